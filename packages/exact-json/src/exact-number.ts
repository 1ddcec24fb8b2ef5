/** Numbers with every digit of their spelling, where a JavaScript number would round. */

/** sign × 0.digits × 10^exponent; the digits have no zeros at either end, and 0 has no digits. */
export interface ExactNumber {
  readonly sign: -1 | 0 | 1;
  readonly digits: string;
  readonly exponent: number;
}

const ZERO: ExactNumber = { sign: 0, digits: '', exponent: 0 };

export function exactNumber(spelling: string): ExactNumber {
  const [, minus = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(spelling) ?? [];
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first < 0) return ZERO;
  const digits = withoutLastZeros(all.slice(first));
  return { sign: minus === '' ? 1 : -1, digits, exponent: Number(exponent) + whole.length - first };
}

/** A loop, because a pattern for trailing zeros takes quadratic time. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** Below 0 if `a` is less than `b`, 0 if they are equal. */
export function compareExact(a: ExactNumber, b: ExactNumber): number {
  if (a.sign !== b.sign || a.sign === 0) return a.sign - b.sign;
  return a.sign * compareSizes(a, b);
}

function compareSizes(a: ExactNumber, b: ExactNumber): number {
  if (a.exponent !== b.exponent) return a.exponent - b.exponent;
  if (a.digits === b.digits) return 0;
  // Fraction digits compare as texts, because none ends in a zero.
  return a.digits < b.digits ? -1 : 1;
}

export function isExactInteger({ digits, exponent }: ExactNumber): boolean {
  return digits.length <= exponent || digits === '';
}

/** Whether `value` is a whole multiple of `step`; the step must not be 0. */
export function isExactMultiple(value: ExactNumber, step: ExactNumber): boolean {
  if (value.sign === 0) return true;
  const divisor = BigInt(step.digits);
  const shift = value.exponent - value.digits.length - (step.exponent - step.digits.length);
  if (shift < 0) return false;
  return (remainder(value.digits, divisor) * powerOfTen(shift, divisor)) % divisor === 0n;
}

/** Digits divided at a time; a chunk stays an exact number. */
const CHUNK = 15;

function remainder(digits: string, divisor: bigint): bigint {
  let rest = 0n;
  for (let at = 0; at < digits.length; at += CHUNK) {
    const chunk = digits.slice(at, at + CHUNK);
    rest = (rest * 10n ** BigInt(chunk.length) + BigInt(chunk)) % divisor;
  }
  return rest;
}

function powerOfTen(exponent: number, divisor: bigint): bigint {
  let result = 1n % divisor;
  let square = 10n % divisor;
  for (let rest = BigInt(exponent); rest > 0n; rest /= 2n) {
    if (rest % 2n === 1n) result = (result * square) % divisor;
    square = (square * square) % divisor;
  }
  return result;
}

/** Equal for all spellings of one number and different for any other. */
export function exactKey({ sign, digits, exponent }: ExactNumber): string {
  return sign === 0 ? '0' : `${sign < 0 ? '-' : ''}${digits}e${exponent}`;
}
