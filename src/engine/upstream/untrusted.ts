/** Looks into JSON from outside without trusting any of it: what is not there, or is something else, is undefined. */

/** Own members only. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** JSON text as a value; undefined for anything else. Parsed at once, so only for short texts. */
export function parseFields(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Halves of characters may belong to those of the next piece. */
export const isText = (value: unknown): value is string => typeof value === 'string';

/** Well-formed text, empty only where `field` is. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toWellFormed() : undefined;
}

/** No count of tokens is larger; sums of many such are exact. */
const MOST = 2 ** 31 - 1;

/** A whole number of at least 0; larger than any count is cut. */
export function readCount(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 0 ? Math.min(Number(value), MOST) : undefined;
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
