/** How fast memory grows, from looks at it after rounds of equal work. */

export interface Footprint {
  readonly mebibytes: number;
  /** How long the round took. */
  readonly minutes: number;
}

/** Caches and pools fill in the first half; less than this of the second says nothing. */
const LEAST_MINUTES = 5;
const LEAST_ROUNDS = 10;

/**
 * The slope of the second half, mebibytes a minute; null while it is too short. Rounds are equal work, so the slope is one
 * by rounds, and a round that was held up by the machine does not make it look smaller.
 */
export function growthPerMinute(all: readonly Footprint[]): number | null {
  const half = all.slice(Math.floor(all.length / 2));
  const minutes = half.map((each) => each.minutes).toSorted((a, b) => a - b);
  const usual = minutes[Math.floor(minutes.length / 2)] ?? 0;
  if (half.length < LEAST_ROUNDS || usual * half.length < LEAST_MINUTES) return null;
  const meanAt = (half.length - 1) / 2;
  const mean = half.reduce((sum, { mebibytes }) => sum + mebibytes, 0) / half.length;
  let together = 0;
  let spread = 0;
  for (const [at, { mebibytes }] of half.entries()) {
    together += (at - meanAt) * (mebibytes - mean);
    spread += (at - meanAt) ** 2;
  }
  return Number((together / spread / usual).toFixed(2));
}
