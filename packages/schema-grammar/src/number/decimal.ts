/** Numbers as decimal digits: exact where doubles are not. */

/** Without a sign: the digits, with the point after `whole`; neither has zeros at its outer end, and a whole 0 is "0". */
export interface Decimal {
  readonly whole: string;
  readonly fraction: string;
}

/** Up to here a whole double is spelled in full; above, as the shortest digits that read back as it. */
const EXACT_WHOLE = 2 ** 80;

/** The magnitude of a number. */
export function toDecimal(value: number): Decimal {
  const size = Math.abs(value);
  if (Number.isInteger(size) && size < EXACT_WHOLE) return { whole: String(BigInt(size)), fraction: '' };
  const { digits, exponent } = significant(size);
  return pointAfter(digits, exponent + 1);
}

/** The shortest digits that read back as the number, without zeros behind them: d.ddd × 10^exponent. */
export function significant(size: number): { readonly digits: string; readonly exponent: number } {
  const [digits = '', exponent = '0'] = size.toExponential().split('e');
  return { digits: digits.replace('.', '').replace(/0+$/, '') || '0', exponent: Number(exponent) };
}

/** The digits with the point behind the first `count` of them. */
export function pointAfter(digits: string, count: number): Decimal {
  const padded = count > 0 ? digits.padEnd(count, '0') : '0'.repeat(1 - count) + digits;
  const at = Math.max(1, count);
  return {
    whole: padded.slice(0, at).replace(/^0+(?=\d)/, ''),
    fraction: padded.slice(at).replace(/0+$/, ''),
  };
}

/** The whole number of a double without a fraction. */
export function wholeNumber(value: number): bigint {
  const size = BigInt(toDecimal(value).whole);
  return value < 0 ? -size : size;
}

/** The next double up, or down. */
export function neighbour(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(Math.sign(value) * direction));
  return bits.getFloat64(0);
}

/** Digits behind the point that a number needs in plain decimal notation. */
export function fractionDigits(value: number): number {
  return toDecimal(value).fraction.length;
}

/**
 * Whether the value is a whole number of steps, in decimal arithmetic: 0.07 is seven times 0.01. A whole number whose last
 * digits no double holds counts as one, because nothing is known of them.
 */
export function isMultiple(value: number, step: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return true;
  const decimals = Math.max(fractionDigits(value), fractionDigits(step));
  const scaled = (number: number): bigint => {
    const { whole, fraction } = toDecimal(number);
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  };
  return scaled(value) % scaled(step) === 0n;
}
