/** Numbers as decimal digits: exact where doubles are not. */

/** Unsigned digits with the point after `whole`; no zeros at the outer ends, and a whole 0 is "0". */
export interface Decimal {
  readonly whole: string;
  readonly fraction: string;
}

/** Whole doubles up to here are written in full; above, as the shortest digits that parse to the same double. */
const EXACT_WHOLE = 2 ** 80;

export function toDecimal(value: number): Decimal {
  const size = Math.abs(value);
  if (Number.isInteger(size) && size < EXACT_WHOLE) return { whole: String(BigInt(size)), fraction: '' };
  const { digits, exponent } = significant(size);
  return pointAfter(digits, exponent + 1);
}

/** Shortest digits that parse to the same number, without trailing zeros: d.ddd × 10^exponent. */
export function significant(size: number): { readonly digits: string; readonly exponent: number } {
  const [digits = '', exponent = '0'] = size.toExponential().split('e');
  return { digits: digits.replace('.', '').replace(/0+$/, '') || '0', exponent: Number(exponent) };
}

/** Digits with the point after the first `count`. */
export function pointAfter(digits: string, count: number): Decimal {
  const padded = count > 0 ? digits.padEnd(count, '0') : '0'.repeat(1 - count) + digits;
  const at = Math.max(1, count);
  return {
    whole: padded.slice(0, at).replace(/^0+(?=\d)/, ''),
    fraction: padded.slice(at).replace(/0+$/, ''),
  };
}

export function wholeNumber(value: number): bigint {
  const size = BigInt(toDecimal(value).whole);
  return value < 0 ? -size : size;
}

export function neighbour(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(Math.sign(value) * direction));
  return bits.getFloat64(0);
}

export function fractionDigits(value: number): number {
  return toDecimal(value).fraction.length;
}

/**
 * Whether the value is a multiple of `step` in decimal arithmetic: 0.07 is seven times 0.01. A whole number beyond a
 * double's exact digits counts as one, because its last digits are unknown.
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
