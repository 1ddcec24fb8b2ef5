/** hearth ps: the loaded models. */
import type { Command } from 'commander';
import type { ResidencyList } from '../../../wire/residency.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { inTime } from '../../words/relative-time.ts';
import { type CliContext, table } from '../../context.ts';

const HEAD = [
  'MODEL',
  'KIND',
  'STATE',
  'MEMORY',
  'DEVICE',
  'CONTEXT',
  'SLOTS',
  'THREADS',
  'TOKENS/S',
  'UNLOAD',
];

export function registerPs(program: Command, context: CliContext): void {
  program
    .command('ps')
    .description('show the loaded models: memory, context, slots, time of unload')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const response = await callServer(context.config(), 'GET', routes.residency.path);
      const { data } = expectOk(response) as ResidencyList;
      if (flags.json === true) return context.printJson(data);
      const rows = data.map((item) => [
        item.id,
        item.kind,
        item.state,
        memoryText(item),
        devices(item),
        String(item.num_ctx ?? ''),
        `${item.running}/${item.slots ?? '?'}${item.queued > 0 ? ` +${item.queued} waiting` : ''}`,
        String(item.threads ?? ''),
        item.tokens_per_second?.toFixed(1) ?? '',
        unload(item),
      ]);
      if (rows.length === 0)
        context.note('No model is loaded; the next request loads the one that it names.');
      else context.print(table([HEAD, ...rows]));
    });
}

/** When it will be unloaded if nothing comes. */
function unload({ expires_at: at, running }: ResidencyList['data'][number]): string {
  if (at !== null) return inTime(Date.parse(at), systemClock.unixMs());
  return running > 0 ? 'busy' : 'never';
}

/** Where the weights lie; the memory of the machine is named only where nothing else is. */
function devices({ memory }: ResidencyList['data'][number]): string {
  const used = memory.filter((part) => (part.measured_bytes ?? part.planned_bytes) > 0);
  const gpus = used.map(({ device }) => device).filter((device) => device !== 'CPU');
  return gpus.length === 0 ? 'CPU' : gpus.join(', ');
}

/** The sum, and what it consists of where a GPU holds a part. */
function memoryText({ memory_bytes: sum, memory }: ResidencyList['data'][number]): string {
  const parts = memory.map(
    ({ device, planned_bytes, measured_bytes }) => `${device} ${mebibytes(measured_bytes ?? planned_bytes)}`,
  );
  return `${mebibytes(sum)} MiB${parts.length > 1 ? ` (${parts.join(', ')})` : ''}`;
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
