/**
 * schema-grammar/number owns GBNF for JSON numbers under bounds and `multipleOf`. It does not know where a number is
 * used. The number of digits is unlimited: a limit would turn a begun number into another one.
 */
import { type GbnfWriter } from '../gbnf/gbnf-writer.ts';
import {
  at,
  impossible,
  malformed,
  readNumber,
  type Schema,
  type SchemaPath,
} from '../schema/schema-walk.ts';
import { fractionDigits, neighbour, wholeNumber } from './decimal.ts';
import {
  ANY_FRACTION,
  type Bound,
  hugeWholes,
  LARGEST,
  magnitudeRange,
  scientific,
  SMALLEST,
} from './decimal-range.ts';
import { fractionRange } from './fraction-steps.ts';
import { integerRange, type WholeBound } from './number-range.ts';

interface Bounds {
  readonly min: number | null;
  readonly minExclusive: boolean;
  readonly max: number | null;
  readonly maxExclusive: boolean;
}

const WHOLE = '("0" | [1-9] [0-9]*)';
/** JavaScript writes whole numbers from here on with an exponent. */
const HUGE = 1e21;
const HUGE_ZEROS = 21;

/** Whole numbers within the bounds, except those in `not`. */
export function integerRule(
  writer: GbnfWriter,
  schema: Schema,
  path: SchemaPath,
  not: readonly number[] = [],
): string {
  const bounds = readBounds(schema, path);
  const step = readStep(writer, schema, path, true);
  const [min, max] = [lowestInteger(bounds), highestInteger(bounds)];
  const isBeyond = beyondDoubles(bounds);
  if (isBeyond || (min !== null && max !== null && min > max))
    throw impossible(path, 'no whole number lies between its bounds');
  if (step > 1) return steppedIntegers(writer, { min, max, step, not }, path);
  return integersWithout(writer, { min, max, not }, path);
}

interface Integers {
  readonly min: WholeBound;
  readonly max: WholeBound;
  readonly not: readonly number[];
}

function integersWithout(writer: GbnfWriter, { min, max, not }: Integers, path: SchemaPath): string {
  const ranges = holesIn(min, max, not);
  if (ranges.length === 0) throw impossible(path, 'no whole number is left between its bounds');
  const plain = ranges.map(([from, to]) => integerRange(from, to));
  return writer.rule([...plain, ...hugeIntegers(writer, min, max)].join(' | '));
}

function hugeIntegers(writer: GbnfWriter, min: WholeBound, max: WholeBound): string[] {
  const side = (low: WholeBound, high: WholeBound): string | null => {
    const from = Math.max(HUGE, low === null ? HUGE : adjacentDouble(low, -1));
    const to = high === null ? LARGEST.value : Math.min(LARGEST.value, adjacentDouble(high, 1));
    if (from > to) return null;
    const rules = hugeWholes({ value: from, strict: false }, { value: to, strict: false });
    return writer.shared(`huge ${from} ${to}`, () => writer.rule(rules.join(' | ')));
  };
  const [plus, minus] = [side(min, max), side(negated(max), negated(min))];
  return [...(minus === null ? [] : [`"-" ${minus}`]), ...(plus === null ? [] : [plus])];
}

function adjacentDouble(value: bigint, direction: 1 | -1): number {
  const rounded = Number(value);
  if (!Number.isFinite(rounded)) return rounded;
  const isShort = direction === 1 ? BigInt(rounded) < value : BigInt(rounded) > value;
  return isShort ? neighbour(rounded, direction) : rounded;
}

function negated(bound: WholeBound): WholeBound {
  return bound === null ? null : -bound;
}

/** Limit of values in a bounded range with a step. */
const MAX_VALUES = 400;

function steppedIntegers(
  writer: GbnfWriter,
  { min, max, step, not }: Integers & { readonly step: number },
  path: SchemaPath,
): string {
  const size = BigInt(step);
  const isOpenBelow = min === null || (min >= 0n && min <= size);
  const isOpenAbove = max === null || (max <= 0n && max >= -size);
  if (isOpenBelow && isOpenAbove && not.length === 0) {
    const zero = (min ?? 0n) <= 0n && (max ?? 0n) >= 0n;
    return multiples(writer, step, { zero, minus: min === null, plus: max === null });
  }
  const first = min === null ? null : ceilTo(min, size);
  if (first !== null && max !== null && first > max)
    throw impossible(path, 'no multiple lies between its bounds');
  const count = first === null || max === null ? null : (max - first) / size + 1n;
  if (first === null || count === null || count > BigInt(MAX_VALUES)) {
    writer.cannot(path, 'multipleOf', 'too many multiples lie between its bounds');
    return integersWithout(writer, { min, max, not }, path);
  }
  const values = Array.from({ length: Number(count) }, (_, index) => first + BigInt(index) * size);
  const left = values.filter((value) => !not.includes(Number(value)));
  if (left.length === 0) throw impossible(path, 'no multiple is left between its bounds');
  return writer.rule(left.map((value) => writer.literal(String(value))).join(' | '));
}

function ceilTo(value: bigint, size: bigint): bigint {
  const quotient = value / size;
  return (quotient * size < value ? quotient + 1n : quotient) * size;
}

function holesIn(min: WholeBound, max: WholeBound, not: readonly number[]): [WholeBound, WholeBound][] {
  const isInside = (value: bigint): boolean =>
    (min === null || value >= min) && (max === null || value <= max);
  const holes = [...new Set(not)].filter(Number.isInteger).map(wholeNumber).filter(isInside);
  const ranges: [WholeBound, WholeBound][] = [];
  let from = min;
  for (const hole of holes.sort((a, b) => (a < b ? -1 : 1))) {
    if (from === null || from < hole) ranges.push([from, hole - 1n]);
    from = hole + 1n;
  }
  if (max === null || from === null || from <= max) ranges.push([from, max]);
  return ranges;
}

interface Signs {
  readonly zero: boolean;
  readonly minus: boolean;
  readonly plus: boolean;
}

/** Multiples of a whole number, by the remainder of the digits written so far. */
function multiples(writer: GbnfWriter, step: number, signs: Signs): string {
  const rule = positiveMultiples(writer, step);
  // A number with this many trailing zeros is a multiple of every divisor of a power of ten.
  const huge = 10n ** BigInt(HUGE_ZEROS) % BigInt(step) === 0n;
  const options = [
    ...(huge ? hugeIntegers(writer, signs.minus ? null : 0n, signs.plus ? null : 0n) : []),
    ...(signs.zero ? ['"0"'] : []),
    ...(signs.plus ? [rule] : []),
    ...(signs.minus ? [`"-" ${rule}`] : []),
  ];
  return writer.rule(options.join(' | '));
}

function positiveMultiples(writer: GbnfWriter, step: number): string {
  if (Number.isInteger(Math.log10(step))) {
    const zeros = String(step).length - 1;
    return writer.rule(`[1-9] [0-9]* "${'0'.repeat(zeros)}"`);
  }
  const names = Array.from({ length: step }, () => writer.reserve());
  for (const [remainder, name] of names.entries()) {
    const end = remainder === 0 ? ['""'] : [];
    writer.define(name, [...end, ...digitSteps(step, remainder, names, 0)].join(' | '));
  }
  return writer.rule(digitSteps(step, 0, names, 1).join(' | '));
}

function digitSteps(step: number, remainder: number, names: readonly string[], from: number): string[] {
  const digits = Array.from({ length: 10 - from }, (_, index) => index + from);
  return digits.map((digit) => `"${digit}" ${names[(remainder * 10 + digit) % step]}`);
}

const FRACTION = `"-"? (${[
  `${WHOLE} "." [0-9]* [1-9]`,
  ...scientific(SMALLEST, { value: 1, strict: true }, 1),
].join(' | ')})`;

interface Excluded {
  readonly not: readonly number[];
  readonly isFraction: boolean;
}

export function numberRule(
  writer: GbnfWriter,
  schema: Schema,
  path: SchemaPath,
  { not, isFraction }: Excluded = { not: [], isFraction: false },
): string {
  const bounds = readBounds(schema, path);
  const step = readStep(writer, schema, path, false);
  const isFree = step === 0 && bounds.min === null && bounds.max === null;
  if (Number.isInteger(step) && step > 0 && !isFraction) return integerRule(writer, schema, path, not);
  if (not.length > 0) {
    if (isFree && !isFraction && not.every(Number.isInteger))
      return writer.rule(`${integerRule(writer, {}, path, not)} | ${FRACTION}`);
    writer.cannot(path, 'not', 'such a value cannot be excluded');
  }
  if (isFraction && isFree) return writer.rule(FRACTION);
  if (isFraction) writer.cannot(path, 'not', 'whole numbers cannot be excluded here');
  if (Number.isInteger(step) && step > 0) return integerRule(writer, schema, path);
  if (step > 0) return steppedNumbers(writer, bounds, step, path);
  return bounds.min === null && bounds.max === null
    ? freeNumber(writer)
    : boundedNumber(writer, bounds, path);
}

/** With three exponent digits, a single digit before the point keeps the number finite. */
function freeNumber(writer: GbnfWriter): string {
  return writer.shared('number', () => {
    const far = scientific({ value: 1e100, strict: false }, LARGEST, 1).join(' | ');
    const near = `[1-9] ${ANY_FRACTION} [eE] "-" [1-9] [0-9]{2}`;
    const usual = `${WHOLE} ${ANY_FRACTION} ([eE] [-+]? [0-9]{1,2})?`;
    return writer.rule(`"-"? (${usual} | ${far} | ${near})`);
  });
}

/** Limit of steps from 0: beyond it, doubles skip some. */
const MOST_STEPS = Number.MAX_SAFE_INTEGER;

/** Multiples of a non-integer step: any count for a fraction that divides 1, a few for others. */
function steppedNumbers(writer: GbnfWriter, bounds: Bounds, step: number, path: SchemaPath): string {
  const isWhole = (steps: number): boolean => isWithin(multiply(step, steps), bounds);
  // Rounding may have moved the outermost one beyond or short of its bound.
  const nearest = (steps: number, inwards: 1 | -1): number =>
    [steps - inwards, steps, steps + inwards, steps + 2 * inwards].find(isWhole) ?? steps;
  const { min, max } = bounds;
  const first = min === null ? null : nearest(Math.ceil(min / step), 1);
  const last = max === null ? null : nearest(Math.floor(max / step), -1);
  if (Math.max(Math.abs(first ?? 0), Math.abs(last ?? 0)) > MOST_STEPS) {
    writer.cannot(path, 'multipleOf', `multiples are counted up to ${MOST_STEPS} only`);
    return boundedNumber(writer, bounds, path);
  }
  const outermost = first ?? last;
  if ((first !== null && last !== null && first > last) || (outermost !== null && !isWhole(outermost)))
    throw impossible(path, 'no multiple lies between its bounds');
  if (first !== null && last !== null && last - first <= MAX_VALUES) {
    const values = Array.from({ length: last - first + 1 }, (_, index) => multiply(step, first + index));
    return writer.rule(values.map((value) => `"${value}"`).join(' | '));
  }
  const huge = hugeIntegers(writer, first === null ? null : 0n, last === null ? null : 0n);
  return writer.rule([fractionRange(first, last, Math.round(1 / step)), ...huge].join(' | '));
}

const multiply = (step: number, steps: number): number =>
  Number((steps * step).toFixed(fractionDigits(step))) + 0;

function isWithin(value: number, { min, minExclusive, max, maxExclusive }: Bounds): boolean {
  if (min !== null && (minExclusive ? value <= min : value < min)) return false;
  return max === null || (maxExclusive ? value < max : value <= max);
}

/** 0: no step. Steps that are neither a fraction of 1 nor a small whole number have no grammar. */
function readStep(writer: GbnfWriter, schema: Schema, path: SchemaPath, integer: boolean): number {
  const multiple = readNumber(schema, 'multipleOf', path);
  if (multiple === null) return integer ? 1 : 0;
  if (multiple <= 0) throw malformed(at(path, 'multipleOf'), 'it must be greater than 0');
  const inverse = Math.round(1 / multiple);
  const isFraction = multiple < 1 && 1 / inverse === multiple;
  if (integer && isFraction) return 1;
  const isPower = Number.isInteger(Math.log10(multiple)) && multiple <= 1e9;
  if (Number.isInteger(multiple) && (multiple <= MAX_STEP || isPower)) return multiple;
  if (isFraction && inverse <= MAX_VALUES) return multiple;
  if (isFraction && Number.isInteger(Math.log10(inverse)) && inverse <= 1e6) return multiple;
  const { min, max } = readBounds(schema, path);
  if (min !== null && max !== null && (max - min) / multiple <= MAX_VALUES && !integer) return multiple;
  if (min !== null && max !== null && (max - min) / multiple <= MAX_VALUES && Number.isInteger(multiple))
    return multiple;
  writer.cannot(path, 'multipleOf', 'multiples of that number have no grammar; use an enum');
  return integer ? 1 : 0;
}

/** Largest whole step counted by remainders. */
const MAX_STEP = 200;

function boundedNumber(writer: GbnfWriter, bounds: Bounds, path: SchemaPath): string {
  const { min, minExclusive, max, maxExclusive } = bounds;
  const low: Bound | null = min === null ? null : { value: min, strict: minExclusive };
  const high: Bound | null = max === null ? null : { value: max, strict: maxExclusive };
  const plus = side(low, high);
  const minus = min !== null && min >= 0 ? [] : side(opposite(high), opposite(low));
  const options = [...plus, ...(minus.length === 0 ? [] : [`"-" (${minus.join(' | ')})`])];
  if (options.length === 0) throw impossible(path, 'no number lies between its bounds');
  return writer.rule(options.join(' | '));
}

function opposite(bound: Bound | null): Bound | null {
  return bound === null ? null : { value: -bound.value + 0, strict: bound.strict };
}

function side(low: Bound | null, high: Bound | null): string[] {
  if (high !== null && (high.value < 0 || (low !== null && low.value > high.value))) return [];
  return magnitudeRange({ low: low === null || low.value < 0 ? null : low, high });
}

function lowestInteger({ min, minExclusive }: Bounds): WholeBound {
  if (min === null) return null;
  const lowest = Math.ceil(min);
  return wholeNumber(lowest) + (minExclusive && lowest === min ? adjacentStep(lowest) : 0n);
}

function highestInteger({ max, maxExclusive }: Bounds): WholeBound {
  if (max === null) return null;
  const highest = Math.floor(max);
  return wholeNumber(highest) - (maxExclusive && highest === max ? adjacentStep(highest) : 0n);
}

/** The check excludes a huge bound itself, because the adjacent number would need a grammar of all its digits. */
const adjacentStep = (bound: number): bigint => (Math.abs(bound) < HUGE ? 1n : 0n);

function beyondDoubles({ min, minExclusive, max, maxExclusive }: Bounds): boolean {
  return (minExclusive && min === Number.MAX_VALUE) || (maxExclusive && max === -Number.MAX_VALUE);
}

function readBounds(schema: Schema, path: SchemaPath): Bounds {
  const min = readNumber(schema, 'minimum', path);
  const above = readNumber(schema, 'exclusiveMinimum', path);
  const max = readNumber(schema, 'maximum', path);
  const below = readNumber(schema, 'exclusiveMaximum', path);
  const minExclusive = above !== null && (min === null || above >= min);
  const maxExclusive = below !== null && (max === null || below <= max);
  return { min: minExclusive ? above : min, minExclusive, max: maxExclusive ? below : max, maxExclusive };
}
