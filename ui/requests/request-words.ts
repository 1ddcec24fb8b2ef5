import type { CacheMissReason } from '../../src/contract/job-event.ts';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { count, milliseconds, moment, percent } from '../parts/figures.ts';

export interface RequestFigure {
  readonly name: string;
  readonly value: string;
}

type Word = string | number | boolean;
type Rows = {
  readonly [Field in keyof Required<RequestView>]: readonly [string, (value: never) => string] | null;
};

const said = (value: Word): string => String(value);

/** Every member of a request, so that a new one cannot be forgotten; null: shown in another place. */
const ROWS: Rows = {
  number: null,
  request_id: null,
  trace_id: ['Trace ID', said],
  has_text: null,
  started_ms: ['Started', moment],
  method: ['Method', said],
  route: ['Route', said],
  dialect: ['API dialect', said],
  stream: ['Streamed', (value: boolean) => (value ? 'yes' : 'no')],
  status: ['HTTP status', said],
  error: ['Error', (code: string) => errorWords(code)],
  model: ['Model', said],
  upstream: ['Upstream', said],
  instead_of: ['… instead of', said],
  because: ['… because of', (kind: string) => kind.replaceAll('_', ' ')],
  client_name: ['Client', said],
  client: ['Client hash', said],
  key: ['API key', said],
  total_ms: ['Total', milliseconds],
  first_ms: ['First token after', milliseconds],
  queue_ms: ['Waiting in the queue', milliseconds],
  load_ms: ['Waiting for the model to load', milliseconds],
  restore_ms: ['Restoring cached prompt state', milliseconds],
  prompt_ms: ['Rendering and tokenizing the prompt', milliseconds],
  grammar_ms: ['Compiling the grammar', milliseconds],
  prefill_ms: ['Processing the prompt (prefill)', milliseconds],
  decode_ms: ['Generating (decode)', milliseconds],
  check_ms: ['Checking against schemas', milliseconds],
  prompt_tokens: ['Prompt tokens', count],
  cached_tokens: ['… of them reused', count],
  ram_tokens: ['… restored from memory', count],
  disk_tokens: ['… restored from disk', count],
  cache_miss: ['Why not all were reused', (reason: string) => missOf(reason)[0]],
  completion_tokens: ['Answer tokens', count],
  drafted_tokens: ['Drafted tokens', count],
  accepted_tokens: ['… of them accepted', count],
  finish_reason: ['Finished by', (reason: string) => FINISHES[reason] ?? reason],
};

const FINISHES: Readonly<Record<string, string>> = {
  stop: 'the model',
  length: 'a token limit',
  repetition: 'repeating itself',
  tool_calls: 'a tool call',
};

/** End of a sentence, and a label; null: new text is not a loss. */
const MISSES: Readonly<Record<CacheMissReason, readonly [string, string | null]>> = {
  cold: ['no earlier prompt began like it', null],
  differs: ['it goes on otherwise than the earlier prompts, as every new conversation does', null],
  evicted: ['it was evicted from the cache', 'evicted'],
  no_checkpoint: ['the state of this model cannot be cut back there', 'no checkpoint'],
  damaged: ['the file on disk was damaged', 'damaged'],
  not_worth: ['computing it was faster', 'cheaper to compute'],
  not_restored: ['it could not be restored', 'not restored'],
};

function missOf(reason: string): readonly [string, string | null] {
  const plain = reason.replaceAll('_', ' ');
  return (MISSES as Readonly<Record<string, readonly [string, string | null]>>)[reason] ?? [plain, plain];
}

/** Null: no avoidable prefill. */
export const missLabel = ({ cache_miss: miss }: RequestView): string | null =>
  miss === undefined ? null : missOf(miss)[1];

export const errorWords = (code: string): string =>
  code === 'cancelled' ? 'stopped by the client' : code.replaceAll('_', ' ');

export function figuresOf(request: RequestView): RequestFigure[] {
  return Object.entries(ROWS).flatMap(([field, row]) => {
    const value = request[field as keyof RequestView];
    return row === null || value === undefined ? [] : [{ name: row[0], value: row[1](value as never) }];
  });
}

export const clientOf = ({ key, client_name: name, client }: RequestView): string =>
  key ?? name ?? `unnamed (${client.slice(0, 6)})`;

export function promptWords({
  prompt_tokens: prompt,
  cached_tokens: cached = 0,
}: RequestView): string | null {
  return prompt === undefined || prompt === 0 || cached === 0 ? null : `${percent(cached / prompt)} reused`;
}
