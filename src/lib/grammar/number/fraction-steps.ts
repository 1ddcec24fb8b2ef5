/** GBNF for multiples of 1/k, such as 0.25 or 0.01, from one of them to another. */
import { decimalsOf, integerRange, scaledRange } from './number-range.ts';

/**
 * Most steps from 0: the check of the answer divides by the step, and knows a multiple by its nearness to a whole number.
 */
export const MOST_STEPS = 10 ** 9 - 1;

/** `first` to `last`, counted in steps of 1/`parts`, both within ±MOST_STEPS. */
export function fractionRange(first: number, last: number, parts: number): string {
  const step = 1 / parts;
  if (Number.isInteger(Math.log10(parts))) return decimalRange(first, last, Math.log10(parts));
  const written = (steps: number): string => String(Number((steps * step).toFixed(decimalsOf(step))));
  const minus = sideRange(Math.max(1, -last), -first, parts, written);
  const plus = sideRange(Math.max(0, first), last, parts, written);
  return [...minus.map((rule) => `"-" ${rule}`), ...plus].join(' | ');
}

/** The same on one side of 0; the numbers beside the first and the last whole one are written one by one. */
function sideRange(from: number, to: number, parts: number, written: (steps: number) => string): string[] {
  if (from > to) return [];
  const [low, high] = [Math.ceil(from / parts), Math.floor(to / parts)];
  if (low >= high) return [oneOf(from, to, written)];
  const fractions = Array.from({ length: parts - 1 }, (_, index) => `"${written(index + 1).slice(1)}"`);
  return [
    ...(from < low * parts ? [oneOf(from, low * parts - 1, written)] : []),
    `(${integerRange(low, high - 1)}) ("" | ${fractions.join(' | ')})`,
    oneOf(high * parts, to, written),
  ];
}

function oneOf(from: number, to: number, written: (steps: number) => string): string {
  const all = Array.from({ length: to - from + 1 }, (_, index) => `"${written(from + index)}"`);
  return `(${all.join(' | ')})`;
}

/** Powers of ten, with as many digits behind the point or fewer. */
function decimalRange(first: number, last: number, digits: number): string {
  const ranges = Array.from({ length: digits + 1 }, (_, decimals): string[] => {
    const unit = 10 ** (digits - decimals);
    const [from, to] = [Math.ceil(first / unit), Math.floor(last / unit)];
    return from > to ? [] : [scaledRange(BigInt(from), BigInt(to), decimals)];
  });
  return ranges.flat().join(' | ');
}
