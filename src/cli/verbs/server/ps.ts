/** hearth ps: the loaded models. */
import type { Command } from 'commander';
import type { ResidencyList } from '../../../wire/residency.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { type CliContext, table } from '../../context.ts';

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
        String(item.num_ctx ?? ''),
        `${item.running}/${item.slots ?? '?'}${item.queued > 0 ? ` +${item.queued} waiting` : ''}`,
        item.expires_at ?? (item.running > 0 ? 'busy' : 'forever'),
      ]);
      context.print(table([['MODEL', 'KIND', 'STATE', 'MEMORY', 'CONTEXT', 'SLOTS', 'UNTIL'], ...rows]));
    });
}

/** The sum, and what it consists of where a GPU holds a part. */
function memoryText({ memory_bytes: sum, memory }: ResidencyList['data'][number]): string {
  const parts = memory.map(
    ({ device, planned_bytes, measured_bytes }) => `${device} ${mebibytes(measured_bytes ?? planned_bytes)}`,
  );
  return `${mebibytes(sum)} MiB${parts.length > 1 ? ` (${parts.join(', ')})` : ''}`;
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
