/** GBNF for multiples of 1/k, such as 0.25 or 0.01; null: unbounded. */
import { fractionDigits } from './decimal.ts';
import { digitsBetween, integerRange, magnitudes } from './number-range.ts';

/** `first` to `last` in steps of 1/`parts`. */
export function fractionRange(first: number | null, last: number | null, parts: number): string {
  const step = 1 / parts;
  if (Number.isInteger(Math.log10(parts))) return decimalRange(first, last, Math.log10(parts));
  const written = (steps: number): string => String(Number((steps * step).toFixed(fractionDigits(step))));
  const minus =
    first !== null && first > -1
      ? []
      : sideRange(last === null ? 1 : Math.max(1, -last), first === null ? null : -first, parts, written);
  const plus =
    last !== null && last < 0 ? [] : sideRange(first === null ? 0 : Math.max(0, first), last, parts, written);
  return [...minus.map((rule) => `"-" ${rule}`), ...plus].join(' | ');
}

function sideRange(
  from: number,
  to: number | null,
  parts: number,
  written: (steps: number) => string,
): string[] {
  if (to !== null && from > to) return [];
  const low = Math.ceil(from / parts);
  const high = to === null ? null : Math.floor(to / parts);
  if (to !== null && high !== null && low >= high) return [alternation(from, to, written)];
  const fractions = Array.from({ length: parts - 1 }, (_, index) => `"${written(index + 1).slice(1)}"`);
  const wholes = integerRange(BigInt(low), high === null ? null : BigInt(high) - 1n);
  return [
    ...(from < low * parts ? [alternation(from, low * parts - 1, written)] : []),
    `(${wholes}) ("" | ${fractions.join(' | ')})`,
    ...(to === null || high === null ? [] : [alternation(high * parts, to, written)]),
  ];
}

function alternation(from: number, to: number, written: (steps: number) => string): string {
  const all = Array.from({ length: to - from + 1 }, (_, index) => `"${written(from + index)}"`);
  return `(${all.join(' | ')})`;
}

function decimalRange(first: number | null, last: number | null, digits: number): string {
  const ranges = Array.from({ length: digits + 1 }, (_, decimals): string[] => {
    const unit = 10 ** (digits - decimals);
    const from = first === null ? null : BigInt(Math.ceil(first / unit));
    const to = last === null ? null : BigInt(Math.floor(last / unit));
    return signedDecimals(from, to, decimals);
  });
  return ranges.flat().join(' | ');
}

function signedDecimals(from: bigint | null, to: bigint | null, decimals: number): string[] {
  if (from !== null && to !== null && from > to) return [];
  const minus =
    from !== null && from >= 0n
      ? []
      : pointed(to !== null && to < 0n ? -to : 1n, from === null ? null : -from, decimals);
  const plus = to !== null && to < 0n ? [] : pointed(from !== null && from > 0n ? from : 0n, to, decimals);
  return [...minus.map((rule) => `"-" ${rule}`), ...plus];
}

function pointed(low: bigint, high: bigint | null, decimals: number): string[] {
  if (decimals === 0) return magnitudes(low, high);
  const unit = 10n ** BigInt(decimals);
  const [first, last] = [low / unit, high === null ? null : high / unit];
  const padded = (value: bigint): string => String(value).padStart(decimals, '0');
  const fraction = (from: bigint, to: bigint): string => `"." ${digitsBetween(padded(from), padded(to))}`;
  if (last !== null && first === last) return [`"${first}" ${fraction(low % unit, (high ?? 0n) % unit)}`];
  const between = magnitudes(first + 1n, last === null ? null : last - 1n);
  return [
    `"${first}" ${fraction(low % unit, unit - 1n)}`,
    ...(between.length === 0 ? [] : [`(${between.join(' | ')}) "." [0-9]{${decimals}}`]),
    ...(last === null || high === null ? [] : [`"${last}" ${fraction(0n, high % unit)}`]),
  ];
}
