/** Reads untrusted JSON: a missing or wrong value is undefined. */

/** Own members only. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** An unpaired surrogate may belong to the next piece. */
export const isText = (value: unknown): value is string => typeof value === 'string';

export function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toWellFormed() : undefined;
}

/** No token count is larger; sums of many such are exact. */
const MOST = 2 ** 31 - 1;

export function readCount(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 0 ? Math.min(Number(value), MOST) : undefined;
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
