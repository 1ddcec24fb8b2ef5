import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { RequestDetail, RequestList, RequestView } from '../../../wire/operation/requests.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk, postText } from '../../api.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable, printableText, table } from '../../context.ts';
import { durationText } from '../../../lib/base/duration.ts';
import { spanText } from '../../words/relative-time.ts';
import { requestFacts } from '../../words/request-words.ts';

const HEAD = ['N', 'TIME', 'ROUTE', 'MODEL', 'CLIENT', 'STATUS', 'TOKENS', 'QUEUE', 'LOAD', 'FIRST', 'TOTAL'];

interface RequestsFlags {
  readonly json?: boolean;
  readonly har?: string;
  readonly send?: boolean;
  readonly model?: string;
}

export function registerRequests(program: Command, context: CliContext): void {
  program
    .command('requests')
    .description(
      'show the last requests of the running service, or one of them, by its number or request ID, with its stages; last is the latest',
    )
    .argument('[number]', 'the number of a request in the list, its X-Request-Id, or last')
    .option('--json', 'one JSON document')
    .option('--har <file>', 'write all of them to a file as an HTTP archive (HAR)')
    .option('--send', 'send the request again; its text must have been kept (SVC_RECORD=text)')
    .option('--model <model>', 'with --send: to another model')
    .action(async (id: string | undefined, flags: RequestsFlags) => {
      const config = context.config();
      if (flags.har !== undefined) return writeArchive(context, config, flags.har);
      if (id === undefined && (flags.send === true || flags.model !== undefined)) {
        const message = '--send needs the number of a request: hearth requests NUMBER --send';
        throw new CliFailure(message, EXIT_CODES.usage);
      }
      if (id === undefined) return list(context, config, flags);
      const detail = await ask<RequestDetail>(config, `${routes.requests.path}/${encodeURIComponent(id)}`);
      if (flags.send === true)
        return context.print(printableText(await sendAgain(config, detail, flags.model)));
      if (flags.json === true) return context.printJson(detail);
      context.print(described(detail));
    });
}

const ask = async <T>(config: Config, route: string): Promise<T> =>
  expectOk(await callServer(config, 'GET', route)) as T;

async function list(context: CliContext, config: Config, { json }: RequestsFlags): Promise<void> {
  const answer = await ask<RequestList>(config, routes.requests.path);
  if (json === true) return context.printJson(answer.data);
  if (answer.recording.kept === 0) return context.note('Nothing is recorded, because SVC_RECORD is off.');
  const until = answer.recording.text_until_ms;
  if (until !== undefined) {
    const left = spanText(until - systemClock.unixMs());
    context.note(`Text of requests and answers is kept in memory for another ${left} (SVC_RECORD=text).`);
  }
  if (answer.data.length === 0) return context.note('Nothing was asked since the service started.');
  context.print(table([HEAD, ...answer.data.map(requestRow)]));
}

function requestRow(view: RequestView): string[] {
  const span = (ms: number | undefined): string => (ms === undefined ? '' : durationText(ms));
  return [
    String(view.number),
    new Date(view.started_ms).toISOString().slice(11, 19),
    `${view.method} ${view.route}`,
    view.model ?? '',
    [view.key, view.client_name].filter((name) => name !== undefined).join(' · '),
    view.error === undefined ? String(view.status) : `${view.status} ${view.error}`,
    tokenCell(view),
    span(view.queue_ms),
    span(view.load_ms),
    span(view.first_ms),
    span(view.total_ms),
  ];
}

function tokenCell({
  prompt_tokens: prompt,
  cached_tokens: cached = 0,
  completion_tokens: written,
}: RequestView) {
  if (prompt === undefined) return '';
  const kept = cached > 0 ? ` (${cached} cached)` : '';
  return `${prompt}${kept}${written === undefined ? '' : ` → ${written}`}`;
}

function described({ text, ...view }: RequestDetail): string {
  const said =
    text === undefined
      ? []
      : ['', 'REQUEST', printableText(text.request.body), '', 'ANSWER', printableText(text.response.body)];
  return [table(requestFacts(view)), ...said].join('\n');
}

async function writeArchive(context: CliContext, config: Config, file: string): Promise<void> {
  const archive = await ask<object>(config, routes.requestArchive.path);
  await writeFile(file, `${JSON.stringify(archive, null, 2)}\n`, { mode: 0o600 });
  context.note(printable(`${file} is written.`));
}

async function sendAgain(
  config: Config,
  { text, method }: RequestDetail,
  model: string | undefined,
): Promise<string> {
  if (text === undefined || method !== 'POST' || text.request.truncated) {
    throw new CliFailure(
      'the text of this request was not kept whole; start hearth serve with SVC_RECORD=text to keep what comes',
      EXIT_CODES.notFound,
    );
  }
  const body = JSON.parse(text.request.body) as Record<string, unknown>;
  const again = { ...body, stream: false, ...(model === undefined ? {} : { model }) };
  return postText(config, { route: text.path, text: JSON.stringify(again) });
}
