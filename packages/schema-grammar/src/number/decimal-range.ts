/**
 * GBNF for decimal numbers within bounds, with any number of digits. A magnitude is written plainly, or with up to
 * three digits before the point and an exponent.
 */
import { type Decimal, toDecimal, pointAfter, significant } from './decimal.ts';
import { commonStart, digitClass, integerRange, magnitudes } from './number-range.ts';

/** `strict`: the bound itself is excluded. */
export interface Bound {
  readonly value: number;
  readonly strict: boolean;
}

interface Interval {
  readonly low: Bound | null;
  readonly high: Bound | null;
}

interface Edge extends Decimal {
  readonly strict: boolean;
}

export const ANY_FRACTION = '("." [0-9]+)?';
/** Longer whole parts are not written with an exponent. */
const MOST_WHOLE_DIGITS = 3;

export function magnitudeRange({ low, high }: Interval): string[] {
  if (low !== null && high !== null && low.value > high.value) return [];
  return [...plainRange(toEdge(low), toEdge(high)), ...exponentRange(low, high)];
}

function toEdge(bound: Bound | null): Edge | null {
  return bound === null ? null : { ...toDecimal(bound.value), strict: bound.strict };
}

function plainRange(low: Edge | null, high: Edge | null): string[] {
  const from = low ?? { whole: '0', fraction: '', strict: false };
  if (high !== null && from.whole === high.whole) {
    const fraction = fractionBetween(from, high);
    return fraction === null ? [] : [`"${from.whole}" ${fraction}`];
  }
  const isFromFree = from.fraction === '' && !from.strict;
  const last = high === null ? null : BigInt(high.whole) - 1n;
  const between = magnitudes(BigInt(from.whole) + (isFromFree ? 0n : 1n), last);
  const below = high === null ? null : fractionAtMost(high);
  return [
    ...(isFromFree ? [] : [`"${from.whole}" "." ${atLeast(from.fraction, from.strict)}`]),
    ...(between.length === 0 ? [] : [`(${between.join(' | ')}) ${ANY_FRACTION}`]),
    ...(high === null || below === null ? [] : [`"${high.whole}" ${below}`]),
  ];
}

function fractionBetween(low: Edge, high: Edge): string | null {
  if (low.fraction === '' && !low.strict) return fractionAtMost(high);
  const length = Math.max(low.fraction.length, high.fraction.length);
  const [from, to] = [low.fraction.padEnd(length, '0'), high.fraction.padEnd(length, '0')];
  if (from > to) return null;
  const same = commonStart(from, to);
  const head = `"." ${same === '' ? '' : `"${same}" `}`;
  if (same === from) return low.strict || high.strict ? null : `${head}"0"*`;
  const [least, most] = [Number(from[same.length]), Number(to[same.length])];
  const below = atMost(stripped(to.slice(same.length + 1)), high.strict);
  const options = [
    `"${least}" ${atLeast(stripped(from.slice(same.length + 1)), low.strict)}`,
    ...(least + 1 < most ? [`${digitClass(least + 1, most - 1)} [0-9]*`] : []),
    ...(below === null ? [] : [`"${most}" ${below}`]),
  ];
  return `${head}(${options.join(' | ')})`;
}

function fractionAtMost({ fraction, strict }: Edge): string | null {
  if (fraction === '') return strict ? null : '("." "0"+)?';
  const [, zeros = '', rest = ''] = /^(0*)(.*)$/.exec(fraction) ?? [];
  const body = atMost(rest, strict) ?? '';
  const least = Number(rest[0]);
  if (zeros !== '')
    return `("." (${zeros.length > 1 ? `"0"{1,${zeros.length - 1}} | ` : ''}"${zeros}" ${body}))?`;
  const tail = atMost(rest.slice(1), strict);
  const options = [
    ...(least > 0 ? [`${digitClass(0, least - 1)} [0-9]*`] : []),
    ...(tail === null ? [] : [`"${least}" ${tail}`]),
  ];
  return `("." (${options.join(' | ')}))?`;
}

function atLeast(digits: string, strict: boolean): string {
  if (digits === '') return strict ? '"0"* [1-9] [0-9]*' : '[0-9]*';
  const [, zeros = '', rest = ''] = /^(0*)(.*)$/.exec(digits) ?? [];
  if (zeros !== '') {
    const larger = `"0"{0,${zeros.length - 1}} [1-9] [0-9]*`;
    return `(${larger} | "${zeros}" ${atLeast(rest, strict)})`;
  }
  const first = Number(rest[0]);
  const same = `"${first}" ${atLeast(rest.slice(1), strict)}`;
  return first === 9 ? same : `(${digitClass(first + 1, 9)} [0-9]* | ${same})`;
}

function atMost(digits: string, strict: boolean): string | null {
  if (digits === '') return strict ? null : '"0"*';
  const [, zeros = '', rest = ''] = /^(0*)(.*)$/.exec(digits) ?? [];
  if (zeros !== '') return `("0"{0,${zeros.length - 1}} | "${zeros}" ${atMost(rest, strict) ?? ''})`;
  const first = Number(rest[0]);
  const tail = atMost(rest.slice(1), strict);
  const options = ['""', `${digitClass(0, first - 1)} [0-9]*`];
  return `(${[...options, ...(tail === null ? [] : [`"${first}" ${tail}`])].join(' | ')})`;
}

function stripped(digits: string): string {
  return digits.replace(/0+$/, '');
}

export const SMALLEST: Bound = { value: Number.MIN_VALUE, strict: false };
export const LARGEST: Bound = { value: Number.MAX_VALUE, strict: false };

function exponentRange(low: Bound | null, high: Bound | null): string[] {
  const from = low === null || low.value === 0 ? SMALLEST : low;
  const to = high ?? LARGEST;
  if (to.value === 0 || from.value > to.value) return [];
  return Array.from({ length: MOST_WHOLE_DIGITS }, (_, index) => scientific(from, to, index + 1)).flat();
}

/** Rewrites the digits of a mantissa: those given by its bounds come first, after the point. */
type Digits = (rule: string, exponent: number, given: number) => string;

export function scientific(from: Bound, to: Bound, whole: number, digits: Digits = (rule) => rule): string[] {
  const [least, most] = [mantissa(from.value), mantissa(to.value)];
  const edge = ({ digits }: { readonly digits: string }, strict: boolean): Edge => ({
    ...pointAfter(digits, whole),
    strict,
  });
  const [low, high] = [edge(least, from.strict), edge(most, to.strict)];
  const shift = whole - 1;
  const [first, last] = [least.exponent - shift, most.exponent - shift];
  const at = (rules: readonly string[], exponent: number, ...edges: readonly Edge[]): string[] => {
    const given = Math.max(0, ...edges.map(({ fraction }) => fraction.length));
    return rules.map((rule) => digits(rule, exponent, given));
  };
  if (first === last) return scaled(at(plainRange(low, high), first, low, high), first, last);
  const top: Edge = { whole: `1${'0'.repeat(whole)}`, fraction: '', strict: true };
  const bottom: Edge = { whole: `1${'0'.repeat(shift)}`, fraction: '', strict: false };
  const between = `[1-9]${shift === 0 ? '' : ` [0-9]{${shift}}`} ${ANY_FRACTION}`;
  return [
    ...scaled(at(plainRange(low, top), first, low), first, first),
    ...scaled(at([between], first + 1), first + 1, last - 1),
    ...scaled(at(plainRange(bottom, high), last, high), last, last),
  ];
}

/** Whole numbers from 1e21 on with an exponent, as JavaScript writes them; with more digits a fraction would remain. */
export function hugeWholes(from: Bound, to: Bound): string[] {
  return scientific(from, to, 1, (rule, exponent, given) => {
    const left = Math.max(0, Math.min(LEAST_HUGE, exponent - given));
    return rule
      .replaceAll('[0-9]+', `[0-9]{1,${LEAST_HUGE}}`)
      .replaceAll('[0-9]*', left === 0 ? '""' : `[0-9]{0,${left}}`);
  });
}

const LEAST_HUGE = 21;

function mantissa(value: number): ReturnType<typeof significant> {
  const { whole } = toDecimal(value);
  if (value < 1 || !Number.isInteger(value)) return significant(value);
  return { digits: whole.replace(/0+$/, ''), exponent: whole.length - 1 };
}

function scaled(mantissas: readonly string[], first: number, last: number): string[] {
  if (mantissas.length === 0 || first > last) return [];
  return [`(${mantissas.join(' | ')}) ${exponents(first, last)}`];
}

function exponents(first: number, last: number): string {
  const minus = first < 0 ? magnitudes(BigInt(Math.max(1, -last)), BigInt(-first)) : [];
  const plus = last >= 0 ? [integerRange(BigInt(Math.max(0, first)), BigInt(last))] : [];
  const options = [
    ...(minus.length === 0 ? [] : [`"-" "0"? (${minus.join(' | ')})`]),
    ...(plus.length === 0 ? [] : [`"+"? "0"? (${plus.join(' | ')})`]),
  ];
  return `[eE] (${options.join(' | ')})`;
}
