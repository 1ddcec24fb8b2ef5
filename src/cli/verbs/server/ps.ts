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

const UPSTREAM_HEAD = [
  'UPSTREAM',
  'PRIVACY',
  'STATE',
  'RUNNING',
  'FIRST TOKEN',
  'REQUESTS',
  'FAILURES',
  'MOVED/RESUMED',
  'SPILLS',
  'AFFINITY HITS',
];

export function registerPs(program: Command, context: CliContext): void {
  program
    .command('ps')
    .description('show the loaded models: memory, context, slots, time of unload; and the upstreams in use')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const response = await callServer(context.config(), 'GET', routes.residency.path);
      const list = expectOk(response) as ResidencyList;
      if (flags.json === true) return context.printJson(list);
      const { data, upstreams = [] } = list;
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
      if (upstreams.length > 0) context.print(`\n${table([UPSTREAM_HEAD, ...upstreams.map(upstreamRow)])}`);
    });
}

type Upstream = NonNullable<ResidencyList['upstreams']>[number];

function upstreamRow({
  name,
  privacy,
  state,
  why,
  in_flight,
  first_token_ms,
  ...counts
}: Upstream): string[] {
  const failures = Object.entries(counts.failures).map(([kind, count]) => `${kind} ${count}`);
  return [
    name,
    privacy,
    why === null ? state : `${state} (${why})`,
    String(in_flight),
    first_token_ms === null ? '' : `${first_token_ms} ms`,
    String(counts.requests),
    failures.join(', '),
    `${counts.failovers}/${counts.resumptions}`,
    String(counts.spills),
    String(counts.affinity_hits),
  ];
}

function unload({ expires_at: at, running }: ResidencyList['data'][number]): string {
  if (at !== null) return inTime(Date.parse(at), systemClock.unixMs());
  return running > 0 ? 'busy' : 'never';
}

function devices({ memory }: ResidencyList['data'][number]): string {
  if (memory.length === 0) return '';
  const used = memory.filter((part) => (part.measured_bytes ?? part.planned_bytes) > 0);
  const gpus = used.map(({ device }) => device).filter((device) => device !== 'CPU');
  return gpus.length === 0 ? 'CPU' : gpus.join(', ');
}

function memoryText({ memory_bytes: sum, memory }: ResidencyList['data'][number]): string {
  // Models of upstreams use no memory here.
  if (memory.length === 0) return '';
  const parts = memory.map(
    ({ device, planned_bytes, measured_bytes }) => `${device} ${mebibytes(measured_bytes ?? planned_bytes)}`,
  );
  return `${mebibytes(sum)} MiB${parts.length > 1 ? ` (${parts.join(', ')})` : ''}`;
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
