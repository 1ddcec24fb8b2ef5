import type { RequestView } from '../../wire/operation/requests.ts';
import { durationText } from '../../lib/base/duration.ts';

type Field = keyof Required<RequestView>;

/** Has every member of a request, so that a new one cannot be forgotten; in the order of the output. */
const LABELS: Readonly<Record<Field, string>> = {
  number: 'Number',
  request_id: 'Request ID',
  trace_id: 'Trace ID',
  started_ms: 'Started',
  method: 'Method',
  route: 'Route',
  dialect: 'API dialect',
  stream: 'Streamed',
  status: 'HTTP status',
  error: 'Error',
  model: 'Model',
  upstream: 'Upstream',
  instead_of: '… instead of',
  because: '… because of',
  client_name: 'Client',
  client: 'Client hash',
  key: 'API key',
  total_ms: 'Total',
  first_ms: 'First token after',
  queue_ms: 'Waiting in the queue',
  load_ms: 'Waiting for the model to load',
  restore_ms: 'Restoring cached prompt state',
  prompt_ms: 'Rendering and tokenizing the prompt',
  grammar_ms: 'Compiling the grammar',
  prefill_ms: 'Processing the prompt (prefill)',
  decode_ms: 'Generating (decode)',
  check_ms: 'Checking against schemas',
  prompt_tokens: 'Prompt tokens',
  cached_tokens: '… of them reused',
  ram_tokens: '… restored from memory',
  disk_tokens: '… restored from disk',
  cache_miss: 'Why not all were reused',
  completion_tokens: 'Answer tokens',
  drafted_tokens: 'Drafted tokens',
  accepted_tokens: '… of them accepted',
  finish_reason: 'Finish reason',
  has_text: 'Text kept',
};

export function requestFacts(view: RequestView): string[][] {
  return (Object.keys(LABELS) as Field[]).flatMap((field) => {
    const value = view[field];
    return value === undefined ? [] : [[LABELS[field], valueText(field, value)]];
  });
}

function valueText(field: Field, value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (field === 'started_ms') return new Date(value).toISOString();
  return field.endsWith('_ms') ? durationText(value) : String(value);
}
