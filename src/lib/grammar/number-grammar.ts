/** GBNF for JSON numbers under `minimum`, `maximum` and their exclusive forms. */
import { type GbnfWriter } from './gbnf/gbnf-writer.ts';
import { decimalsOf, integerRange, LARGEST, MAX_DIGITS, scaledFloor, scaledRange } from './number-range.ts';
import { malformed, numberOf, type Schema, type SchemaPath, unenforceable } from './schema-walk.ts';

/** Digits after the point when a range is given; more are rarely meant. */
const RANGE_DECIMALS = 2;

interface Bounds {
  readonly min: number | null;
  readonly minExclusive: boolean;
  readonly max: number | null;
  readonly maxExclusive: boolean;
}

export function integerRule(writer: GbnfWriter, schema: Schema, path: SchemaPath): string {
  refuseMultiple(schema, path, true);
  const bounds = boundsOf(schema, path);
  if (bounds.min === null && bounds.max === null) return writer.rule(`"-"? ${whole(writer)}`);
  const min = bounds.min === null ? -LARGEST : lowestInteger(bounds.min, bounds.minExclusive);
  const max = bounds.max === null ? LARGEST : highestInteger(bounds.max, bounds.maxExclusive);
  return writer.rule(checkedRange(min, max, path));
}

export function numberRule(writer: GbnfWriter, schema: Schema, path: SchemaPath): string {
  refuseMultiple(schema, path, false);
  const bounds = boundsOf(schema, path);
  if (bounds.min === null && bounds.max === null)
    return writer.rule(`"-"? ${whole(writer)} ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?`);
  return writer.rule(boundedNumber(bounds, path));
}

function whole(writer: GbnfWriter): string {
  return writer.rule(`"0" | [1-9] [0-9]{0,${MAX_DIGITS - 1}}`);
}

/** Integers within the bounds, and decimals with a fixed number of digits within them. */
function boundedNumber(bounds: Bounds, path: SchemaPath): string {
  const decimals = decimalsFor(bounds);
  const largest = 10n ** BigInt(MAX_DIGITS) - 1n;
  const from = bounds.min === null ? -largest : scaledFloor(bounds.min, decimals, bounds.minExclusive);
  const to = bounds.max === null ? largest : -scaledFloor(-bounds.max, decimals, bounds.maxExclusive);
  if (from < -largest || to > largest)
    throw unenforceable(path, from < -largest ? 'minimum' : 'maximum', 'its bounds are too large');
  if (from > to) throw malformed(path, 'no number lies between its bounds');
  const min = bounds.min === null ? -LARGEST : lowestInteger(bounds.min, bounds.minExclusive);
  const max = bounds.max === null ? LARGEST : highestInteger(bounds.max, bounds.maxExclusive);
  const decimal = scaledRange(from, to, decimals);
  return min <= max ? `${integerRange(min, max)} | ${decimal}` : decimal;
}

/** As many digits after the point as the bounds have, within the precision of a double. */
function decimalsFor(bounds: Bounds): number {
  const [min, max] = [bounds.min ?? 0, bounds.max ?? 0];
  const wholeDigits = Math.trunc(Math.max(Math.abs(min), Math.abs(max))).toString().length;
  const wanted = Math.max(RANGE_DECIMALS, decimalsOf(min), decimalsOf(max));
  return Math.max(RANGE_DECIMALS, Math.min(wanted, MAX_DIGITS - wholeDigits));
}

function checkedRange(min: number, max: number, path: SchemaPath): string {
  if (min < -LARGEST || max > LARGEST) {
    throw unenforceable(
      path,
      min < -LARGEST ? 'minimum' : 'maximum',
      `bounds need at most ${MAX_DIGITS} digits`,
    );
  }
  if (min > max) throw malformed(path, 'no whole number lies between its bounds');
  return integerRange(min, max);
}

function lowestInteger(bound: number, exclusive: boolean): number {
  const lowest = Math.ceil(bound);
  // Adding zero turns -0 into 0.
  return (exclusive && lowest === bound ? lowest + 1 : lowest) + 0;
}

function highestInteger(bound: number, exclusive: boolean): number {
  const highest = Math.floor(bound);
  return (exclusive && highest === bound ? highest - 1 : highest) + 0;
}

function boundsOf(schema: Schema, path: SchemaPath): Bounds {
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (typeof schema[keyword] === 'boolean')
      throw unenforceable(path, keyword, 'it must be a number, as JSON Schema has it since draft 6');
  }
  const min = numberOf(schema, 'minimum', path);
  const above = numberOf(schema, 'exclusiveMinimum', path);
  const max = numberOf(schema, 'maximum', path);
  const below = numberOf(schema, 'exclusiveMaximum', path);
  const minExclusive = above !== null && (min === null || above >= min);
  const maxExclusive = below !== null && (max === null || below <= max);
  return { min: minExclusive ? above : min, minExclusive, max: maxExclusive ? below : max, maxExclusive };
}

function refuseMultiple(schema: Schema, path: SchemaPath, integer: boolean): void {
  const multiple = schema['multipleOf'];
  if (multiple === undefined || (integer && multiple === 1)) return;
  throw unenforceable(path, 'multipleOf', 'divisibility has no grammar; use an enum, or type "integer"');
}
