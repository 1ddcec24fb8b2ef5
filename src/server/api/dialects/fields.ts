/**
 * server/api/dialects owns the translation of other providers' dialects to the one use case of chat and back, a folder per
 * dialect. It knows no engine, no template and no socket. This file: reading values that no schema of the wire fixes.
 */
import { type Fields, isFields } from '../../../lib/base/json.ts';
import { refusal } from '../../../lib/errors/refusal.ts';

export function fieldsAt(value: unknown, path: string): Fields {
  if (isFields(value)) return value;
  throw refusal(path, 'must be an object');
}

export function textAt(value: unknown, path: string): string {
  if (typeof value === 'string') return value.toWellFormed();
  throw refusal(path, 'must be a string');
}

export const typeAt = ({ type }: Fields, path: string): string => textAt(type, `${path}.type`);

export const shown = (text: string): string => `"${text.slice(0, 64)}"`;

export interface FieldRow<Body> {
  readonly refused?: (body: Body) => string | null;
  readonly isIdle?: (body: Body, canThink: boolean) => boolean;
}

export type FieldRows<Body> = Readonly<Record<string, FieldRow<Body>>>;

export function refuseFields<Body extends object>(body: Body, rows: FieldRows<Body>): void {
  for (const [path, { refused }] of Object.entries(rows)) {
    const reason = isGiven(body, path) ? (refused?.(body) ?? null) : null;
    if (reason !== null) throw refusal(path, reason);
  }
}

export function idleFields<Body extends object>(
  body: Body,
  rows: FieldRows<Body>,
  canThink: boolean,
): string[] {
  return Object.entries(rows)
    .filter(([path, { isIdle }]) => isGiven(body, path) && isIdle?.(body, canThink) === true)
    .map(([path]) => path);
}

function isGiven(body: object, path: string): boolean {
  const value = path
    .split('.')
    .reduce<unknown>((at, name) => (isFields(at) && Object.hasOwn(at, name) ? at[name] : undefined), body);
  return value !== undefined && value !== null;
}
