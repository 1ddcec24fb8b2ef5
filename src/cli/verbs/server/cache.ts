/** hearth cache: what the prompt cache of the running service did. */
import type { Command } from 'commander';
import type { CacheReport } from '../../../wire/prompt-cache.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { type CliContext, printable } from '../../context.ts';

export function registerCache(program: Command, context: CliContext): void {
  const cache = program.command('cache').description('what the prompt cache of the running service did');
  cache
    .command('why')
    .description(
      'why the prompt of a request was evaluated and not reused, by the X-Request-Id of its answer',
    )
    .argument('<request-id>', 'id of a chat that was answered since the service started')
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: { json?: boolean }) => {
      const path = routes.cacheReport.path.replace(':id', encodeURIComponent(id));
      const report = expectOk(await callServer(context.config(), 'GET', path)) as CacheReport;
      if (flags.json === true) context.printJson(report);
      else context.print(describe(report));
    });
}

function describe(report: CacheReport): string {
  const { prompt_tokens, cached_tokens, evaluated_tokens, from, restore_ms, difference, advice } = report;
  const origins = Object.entries(from).filter(([, tokens]) => tokens > 0);
  const places = origins.map(([origin, tokens]) => `${tokens} from ${ORIGINS[origin] ?? origin}`).join(', ');
  const restored = restore_ms > 0 ? `, restored in ${restore_ms} ms` : '';
  return [
    `${prompt_tokens} prompt tokens, ${cached_tokens} reused${places === '' ? '' : ` (${places}${restored})`}, ${evaluated_tokens} evaluated.`,
    '',
    `${printable(report.explanation)} [${report.reason}]`,
    ...(advice === null ? [] : [advice]),
    ...(difference === null ? [] : ['', ...sides(difference)]),
  ].join('\n');
}

const ORIGINS: Readonly<Record<string, string>> = { slot: 'a slot', ram: 'memory', disk: 'disk' };

function sides({ token, shared, before, now }: NonNullable<CacheReport['difference']>): string[] {
  return [
    `The first token that differs is number ${token}, behind:`,
    `  ${quoted(shared)}`,
    `before: ${quoted(before)}`,
    `now:    ${quoted(now)}`,
  ];
}

/** On one line, with nothing that a terminal would obey. */
const quoted = (text: string): string => printable(JSON.stringify(text));
