/** Rows of a dialect's fields: what is refused of each, and when one that is given has no effect. */
import { refusal } from '../../lib/errors/refusal.ts';
import { isFields } from './fields.ts';

export interface FieldRow<Body> {
  /** Why the request is refused; null: it is not. */
  readonly refused?: (body: Body) => string | null;
  readonly isIdle?: (body: Body, canThink: boolean) => boolean;
}

/** By the path of the field, with a dot between its parts. Fields that a request leaves out, or sets to null, are not looked at. */
export type FieldRows<Body> = Readonly<Record<string, FieldRow<Body>>>;

/** Throws the refusal of the first row that has one. */
export function refuseFields<Body extends object>(body: Body, rows: FieldRows<Body>): void {
  for (const [path, { refused }] of Object.entries(rows)) {
    const reason = isGiven(body, path) ? (refused?.(body) ?? null) : null;
    if (reason !== null) throw refusal(path, reason);
  }
}

/** Paths of the fields that have no effect, in the order of the rows. */
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
