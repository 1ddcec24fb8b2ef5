/** A record in a file that holds more: the saved text of a stream, whose last event it is, or a proof. Pure. */
import { readProofFile } from './proof-file.ts';

const FIELD = 'data:';

/** The JSON of the record if the text is a proof or that of a stream; else the text unchanged. */
export function recordText(file: string): string {
  const text = readProofFile(file)?.record ?? file;
  if (!/^(?:data:|:)/.test(text)) return text;
  const events = text.split(/\r?\n/).filter((line) => line.startsWith(FIELD));
  const found = events.findLast((line) => line.includes('"evidence"'));
  return found === undefined ? text : found.slice(FIELD.length).trim();
}

/** The whole answer with its record, if these are the members of a chunk; else the value unchanged. */
export function asResponse(value: object): object {
  const answer: unknown = Reflect.get(value, 'svc_answer');
  // Without these members, an answer could be shown that differs from the record's.
  const choices: unknown = Reflect.get(value, 'choices');
  const isLast = Array.isArray(choices) && choices.length === 0;
  if (!isLast || typeof answer !== 'object' || answer === null) return value;
  return { ...answer, evidence: Reflect.get(value, 'evidence') };
}
