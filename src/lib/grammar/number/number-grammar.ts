/**
 * lib/grammar/number owns GBNF for JSON numbers under bounds and `multipleOf`. It knows nothing of where a number stands.
 */
import { type GbnfWriter } from '../gbnf/gbnf-writer.ts';
import { fractionRange, MOST_STEPS } from './fraction-steps.ts';
import { decimalsOf, integerRange, LARGEST, MAX_DIGITS, scaledFloor, scaledRange } from './number-range.ts';
import { at, impossible, malformed, numberOf, type Schema, type SchemaPath } from '../schema/schema-walk.ts';

/** Digits after the point when a range is given; more are rarely meant. */
const RANGE_DECIMALS = 2;

interface Bounds {
  readonly min: number | null;
  readonly minExclusive: boolean;
  readonly max: number | null;
  readonly maxExclusive: boolean;
}

/** Whole numbers within the bounds; `not`: numbers that it must not be. */
export function integerRule(
  writer: GbnfWriter,
  schema: Schema,
  path: SchemaPath,
  not: readonly number[] = [],
): string {
  const bounds = boundsOf(schema, path);
  const step = stepOf(writer, schema, path, true);
  const bounded = bounds.min !== null || bounds.max !== null;
  if (!bounded && step === 1 && not.length === 0) return writer.rule(`"-"? ${whole(writer)}`);
  if (!bounded && not.length === 0 && step > 1) return multiples(writer, step);
  // A bound with more digits than are generated is met by every number that is.
  const min = Math.max(
    -LARGEST,
    bounds.min === null ? -LARGEST : lowestInteger(bounds.min, bounds.minExclusive),
  );
  const max = Math.min(
    LARGEST,
    bounds.max === null ? LARGEST : highestInteger(bounds.max, bounds.maxExclusive),
  );
  if (min > LARGEST || max < -LARGEST) {
    writer.cannot(path, min > LARGEST ? 'minimum' : 'maximum', `numbers have at most ${MAX_DIGITS} digits`);
    return writer.rule(`"-"? ${whole(writer)}`);
  }
  if (min > max) throw impossible(path, 'no whole number lies between its bounds');
  const isOpen =
    (min <= -LARGEST || (min >= 0 && min <= step)) && (max >= LARGEST || (max <= 0 && max >= -step));
  if (step > 1 && isOpen && not.length === 0) {
    const zero = min <= 0 && max >= 0;
    return multiples(writer, step, { zero, minus: min <= -LARGEST, plus: max >= LARGEST });
  }
  if (step > 1) return steppedIntegers(writer, { min, max, step, not }, path);
  const ranges = holesIn(min, max, not);
  if (ranges.length === 0) throw impossible(path, 'no whole number is left between its bounds');
  return writer.rule(ranges.map(([from, to]) => integerRange(from, to)).join(' | '));
}

/** Values that a bounded range with a step may have at most. */
const MAX_VALUES = 400;

function steppedIntegers(
  writer: GbnfWriter,
  { min, max, step, not }: { min: number; max: number; step: number; not: readonly number[] },
  path: SchemaPath,
): string {
  const first = Math.ceil(min / step) * step + 0;
  const count = Math.floor((max - first) / step) + 1;
  if (count <= 0) throw impossible(path, 'no multiple lies between its bounds');
  if (count > MAX_VALUES) {
    writer.cannot(path, 'multipleOf', 'too many multiples lie between its bounds');
    return writer.rule(
      holesIn(min, max, not)
        .map(([from, to]) => integerRange(from, to))
        .join(' | '),
    );
  }
  const values = Array.from({ length: count }, (_, index) => first + index * step);
  const left = values.filter((value) => !not.includes(value));
  if (left.length === 0) throw impossible(path, 'no multiple is left between its bounds');
  return writer.rule(left.map((value) => writer.literal(String(value + 0))).join(' | '));
}

/** The range without some of its numbers. */
function holesIn(min: number, max: number, not: readonly number[]): [number, number][] {
  const holes = [...new Set(not)].filter((value) => Number.isInteger(value) && value >= min && value <= max);
  const ranges: [number, number][] = [];
  let from = min;
  for (const hole of holes.sort((a, b) => a - b)) {
    if (from < hole) ranges.push([from, hole - 1]);
    from = hole + 1;
  }
  if (from <= max) ranges.push([from, max]);
  return ranges;
}

interface Signs {
  readonly zero: boolean;
  readonly minus: boolean;
  readonly plus: boolean;
}

/** Multiples of a whole number, by the remainder of the digits read so far. */
function multiples(
  writer: GbnfWriter,
  step: number,
  signs: Signs = { zero: true, minus: true, plus: true },
): string {
  const rule = positiveMultiples(writer, step);
  const options = [
    ...(signs.zero ? ['"0"'] : []),
    ...(signs.plus ? [rule] : []),
    ...(signs.minus ? [`"-" ${rule}`] : []),
  ];
  return writer.rule(options.join(' | '));
}

function positiveMultiples(writer: GbnfWriter, step: number): string {
  if (Number.isInteger(Math.log10(step))) {
    const zeros = String(step).length - 1;
    return writer.rule(`[1-9] [0-9]{0,${11 - zeros}} "${'0'.repeat(zeros)}"`);
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

/** So few digits that no rounding makes a whole number of it. */
const FRACTION = `"-"? ("0" | [1-9] [0-9]{0,6}) "." [0-9]{0,5} [1-9]`;

/** What a number must not be, beside what its keywords say. */
interface Excluded {
  readonly not: readonly number[];
  /** No whole number. */
  readonly isFraction: boolean;
}

export function numberRule(
  writer: GbnfWriter,
  schema: Schema,
  path: SchemaPath,
  { not, isFraction }: Excluded = { not: [], isFraction: false },
): string {
  const bounds = boundsOf(schema, path);
  const step = stepOf(writer, schema, path, false);
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
  const bounded = bounds.min !== null || bounds.max !== null;
  if (step > 0) return steppedNumbers(writer, bounds, step, path);
  if (!bounded) return writer.rule(`"-"? ${whole(writer)} ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?`);
  return writer.rule(boundedNumber(writer, bounds, path));
}

/** Multiples of a number that is none of the integers: of a fraction that divides 1, or a few of any other. */
function steppedNumbers(writer: GbnfWriter, bounds: Bounds, step: number, path: SchemaPath): string {
  const isWhole = (steps: number): boolean => isWithin(multipleOf(step, steps), bounds);
  // Rounding may have put the outermost one beyond its bound, or short of it.
  const nearest = (steps: number, inwards: 1 | -1): number =>
    [steps - inwards, steps, steps + inwards, steps + 2 * inwards].find(isWhole) ?? steps;
  const { min, max } = bounds;
  const first = min === null ? -MOST_STEPS : nearest(Math.ceil(min / step), 1);
  const last = max === null ? MOST_STEPS : nearest(Math.floor(max / step), -1);
  if (first > MOST_STEPS || last < -MOST_STEPS) {
    const keyword = first > MOST_STEPS ? 'minimum' : 'maximum';
    writer.cannot(path, keyword, `multiples are counted up to ${MOST_STEPS} only`);
    return writer.rule(boundedNumber(writer, bounds, path));
  }
  if (first > last || !isWhole(first)) throw impossible(path, 'no multiple lies between its bounds');
  if (last - first <= MAX_VALUES) {
    const values = Array.from({ length: last - first + 1 }, (_, index) => multipleOf(step, first + index));
    return writer.rule(values.map((value) => `"${value}"`).join(' | '));
  }
  const steps = [Math.max(first, -MOST_STEPS), Math.min(last, MOST_STEPS)] as const;
  return writer.rule(fractionRange(...steps, Math.round(1 / step)));
}

const multipleOf = (step: number, steps: number): number =>
  Number((steps * step).toFixed(decimalsOf(step))) + 0;

function isWithin(value: number, { min, minExclusive, max, maxExclusive }: Bounds): boolean {
  if (min !== null && (minExclusive ? value <= min : value < min)) return false;
  return max === null || (maxExclusive ? value < max : value <= max);
}

/** 0: no step. Numbers that are no fraction of 1 and no small whole number have no grammar. */
function stepOf(writer: GbnfWriter, schema: Schema, path: SchemaPath, integer: boolean): number {
  const multiple = numberOf(schema, 'multipleOf', path);
  if (multiple === null) return integer ? 1 : 0;
  if (multiple <= 0) throw malformed(at(path, 'multipleOf'), 'it must be greater than 0');
  const inverse = Math.round(1 / multiple);
  const isFraction = multiple < 1 && 1 / inverse === multiple;
  if (integer && isFraction) return 1;
  const isPower = Number.isInteger(Math.log10(multiple)) && multiple <= 1e9;
  if (Number.isInteger(multiple) && (multiple <= MAX_STEP || isPower)) return multiple;
  if (isFraction && inverse <= MAX_VALUES) return multiple;
  if (isFraction && Number.isInteger(Math.log10(inverse)) && inverse <= 1e6) return multiple;
  const { min, max } = boundsOf(schema, path);
  if (min !== null && max !== null && (max - min) / multiple <= MAX_VALUES && !integer) return multiple;
  if (min !== null && max !== null && (max - min) / multiple <= MAX_VALUES && Number.isInteger(multiple))
    return multiple;
  writer.cannot(path, 'multipleOf', 'multiples of that number have no grammar; use an enum');
  return integer ? 1 : 0;
}

/** The largest whole step that is counted by remainders. */
const MAX_STEP = 200;

function whole(writer: GbnfWriter): string {
  return writer.rule(`"0" | [1-9] [0-9]{0,${MAX_DIGITS - 1}}`);
}

/** Integers within the bounds, and decimals with a fixed number of digits within them. */
function boundedNumber(writer: GbnfWriter, bounds: Bounds, path: SchemaPath): string {
  const decimals = decimalsFor(bounds);
  const largest = 10n ** BigInt(MAX_DIGITS) - 1n;
  const low = bounds.min === null ? -largest : scaledFloor(bounds.min, decimals, bounds.minExclusive);
  const high = bounds.max === null ? largest : -scaledFloor(-bounds.max, decimals, bounds.maxExclusive);
  if (low > high) throw impossible(path, 'no number lies between its bounds');
  if (low > largest || high < -largest) {
    writer.cannot(path, low > largest ? 'minimum' : 'maximum', 'its bounds are too large');
    return `"-"? ${whole(writer)}`;
  }
  const [from, to] = [low < -largest ? -largest : low, high > largest ? largest : high];
  const min = Math.max(
    -LARGEST,
    bounds.min === null ? -LARGEST : lowestInteger(bounds.min, bounds.minExclusive),
  );
  const max = Math.min(
    LARGEST,
    bounds.max === null ? LARGEST : highestInteger(bounds.max, bounds.maxExclusive),
  );
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
  const min = numberOf(schema, 'minimum', path);
  const above = numberOf(schema, 'exclusiveMinimum', path);
  const max = numberOf(schema, 'maximum', path);
  const below = numberOf(schema, 'exclusiveMaximum', path);
  const minExclusive = above !== null && (min === null || above >= min);
  const maxExclusive = below !== null && (max === null || below <= max);
  return { min: minExclusive ? above : min, minExclusive, max: maxExclusive ? below : max, maxExclusive };
}
