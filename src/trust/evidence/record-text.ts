/** Finds a record within a larger file: the saved text of a stream, whose last event it is, or a proof. */
import { fail } from '../../lib/errors/svc-error.ts';
import { readProofFile } from './proof-file.ts';
import { parseStrictly } from './strict-text.ts';

export interface SavedStream {
  readonly events: readonly unknown[];
  readonly fields: readonly string[];
}

export interface SavedRecord {
  readonly value: unknown;
  readonly stream: SavedStream | null;
}

const STREAM = /^(?:data|event|id|retry)?:/;

export function readSaved(file: string): SavedRecord {
  const text = readProofFile(file)?.record ?? file;
  if (!STREAM.test(text)) return { value: parseStrictly(text), stream: null };
  const fields = new Set<string>();
  const events: unknown[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') continue;
    const [name = ''] = line.split(':', 1);
    // One space belongs to the line; what else is no JSON is for the parser to refuse.
    const data = line.slice(name.length + 1).replace(/^ /, '');
    if (name !== 'data') fields.add(name === '' ? 'comments' : name);
    else if (data !== '[DONE]') events.push(parseStrictly(data));
  }
  const at = events.findLastIndex((event) => isObject(event) && 'evidence' in event);
  if (at === -1) {
    throw fail('record_malformed', {
      reason:
        'the stream has no event with a record; ask for one with "svc_evidence": "frozen-v1" in the body',
    });
  }
  return { value: events[at], stream: { events: events.toSpliced(at, 1), fields: [...fields] } };
}

/** The complete answer with its record if these are the members of a chunk; otherwise the value unchanged. */
export function asResponse(value: object): {
  readonly response: object;
  readonly unsigned: readonly string[];
} {
  const { svc_answer: answer, choices, evidence, ...rest } = value as Record<string, unknown>;
  // Without these members, a file could show an answer that differs from the record's.
  const isLast = Array.isArray(choices) && choices.length === 0;
  if (!isLast || !isObject(answer)) return { response: value, unsigned: [] };
  return { response: { ...answer, evidence }, unsigned: Object.keys(rest) };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
