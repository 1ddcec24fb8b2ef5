/**
 * api/dialects owns the translation of other providers' words to the one use case of chat and back, a folder per
 * dialect. It knows no engine, no template and no socket. This file: reading values that no schema of the wire fixes.
 */
import { refusal } from '../../lib/errors/refusal.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at that path, or a refusal that names it. */
export function fieldsAt(value: unknown, path: string): Fields {
  if (isFields(value)) return value;
  throw refusal(path, 'must be an object');
}

/** The string at that path, well-formed, or a refusal that names it. */
export function textAt(value: unknown, path: string): string {
  if (typeof value === 'string') return value.toWellFormed();
  throw refusal(path, 'must be a string');
}

/** How a word that a client chose stands in a sentence. */
export const shown = (value: unknown): string => `"${String(value).slice(0, 64)}"`;
