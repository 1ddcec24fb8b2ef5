/** GBNF for decimal numbers within bounds: every number it accepts lies in the range, and reads back exactly. */

/** The widest bound handled; beyond 15 digits doubles no longer tell neighbours apart. */
export const MAX_DIGITS = 15;
export const LARGEST = 10 ** MAX_DIGITS - 1;

/** Integers min to max, both within ±LARGEST, as GBNF alternatives of digit classes. */
export function integerRange(min: number, max: number): string {
  return scaledRange(BigInt(min), BigInt(max), 0);
}

/**
 * Numbers min to max with exactly `decimals` digits after the point. The bounds are scaled by 10^decimals, which keeps
 * the arithmetic exact.
 */
export function scaledRange(min: bigint, max: bigint, decimals: number): string {
  const alternatives: string[] = [];
  if (min < 0n) {
    const nearest = max < 0n ? -max : 1n;
    for (const digits of digitPatterns(nearest, -min, decimals + 1))
      alternatives.push(`"-" ${pointed(digits, decimals)}`);
  }
  if (max >= 0n) {
    const from = min > 0n ? min : 0n;
    for (const digits of digitPatterns(from, max, decimals + 1)) alternatives.push(pointed(digits, decimals));
  }
  return alternatives.join(' | ');
}

type DigitClass = readonly [low: number, high: number];

/** Patterns of fixed length that together spell exactly low to high, padded with zeros to `minWidth` digits. */
function digitPatterns(low: bigint, high: bigint, minWidth: number): DigitClass[][] {
  const patterns: DigitClass[][] = [];
  let from = low;
  while (from <= high) {
    const width = Math.max(String(from).length, minWidth);
    const last = 10n ** BigInt(width) - 1n;
    const to = high < last ? high : last;
    patterns.push(...sameWidth(padded(from, width), padded(to, width)));
    from = to + 1n;
  }
  return patterns;
}

/** Two digit strings of one width; splits at the first digit in which they differ. */
function sameWidth(low: number[], high: number[]): DigitClass[][] {
  const [lowHead, ...lowRest] = low;
  const [highHead, ...highRest] = high;
  if (lowHead === undefined || highHead === undefined) return [[]];
  if (lowHead === highHead) return sameWidth(lowRest, highRest).map((rest) => [[lowHead, lowHead], ...rest]);
  const zeros = lowRest.every((digit) => digit === 0);
  const nines = highRest.every((digit) => digit === 9);
  const patterns: DigitClass[][] = [];
  const from = zeros ? lowHead : lowHead + 1;
  const to = nines ? highHead : highHead - 1;
  if (!zeros) {
    for (const rest of sameWidth(
      lowRest,
      lowRest.map(() => 9),
    ))
      patterns.push([[lowHead, lowHead], ...rest]);
  }
  if (from <= to) patterns.push([[from, to], ...lowRest.map((): DigitClass => [0, 9])]);
  if (!nines) {
    for (const rest of sameWidth(
      highRest.map(() => 0),
      highRest,
    ))
      patterns.push([[highHead, highHead], ...rest]);
  }
  return patterns;
}

function padded(value: bigint, width: number): number[] {
  return [...String(value).padStart(width, '0')].map(Number);
}

function pointed(digits: readonly DigitClass[], decimals: number): string {
  const classes = digits.map(([low, high]) => (low === high ? `"${low}"` : `[${low}-${high}]`));
  if (decimals > 0) classes.splice(classes.length - decimals, 0, '"."');
  return classes.join(' ');
}

/**
 * A lower bound as an integer scaled by 10^decimals; one with more decimals is rounded up, into the range.
 * An exclusive bound moves to its neighbour.
 */
export function scaledFloor(bound: number, decimals: number, exclusive: boolean): bigint {
  const [digits = '', exponent = '0'] = bound.toExponential().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const mantissa = BigInt(whole + fraction);
  const shift = Number(exponent) - fraction.length + decimals;
  if (shift >= 0) return mantissa * 10n ** BigInt(shift) + (exclusive ? 1n : 0n);
  const divisor = 10n ** BigInt(-shift);
  const quotient = mantissa / divisor;
  const exact = quotient * divisor === mantissa;
  // BigInt division cuts towards zero, which is already upwards for negative numbers.
  if (exact) return quotient + (exclusive ? 1n : 0n);
  return mantissa > 0n ? quotient + 1n : quotient;
}

/** Digits behind the point that a number needs in plain decimal notation. */
export function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  return Math.max(0, (digits.split('.')[1] ?? '').length - Number(exponent));
}
