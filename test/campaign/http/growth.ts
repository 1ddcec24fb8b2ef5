/** How fast memory grows, from looks at it after rounds of equal work. */
export interface Footprint {
  readonly mebibytes: number;
  /** How long the round took. */
  readonly minutes: number;
}

/**
 * Caches and pools fill in the first half. Collections leave a few mebibytes more or less each time, so that less than
 * this of the second half cannot tell one mebibyte a minute.
 */
const LEAST_MINUTES = 8;
const LEAST_ROUNDS = 10;
/** Garbage of minutes waits for a full collection, tens of mebibytes of it; the least of so long is what is in use. */
const COLLECTED_MINUTES = 1.5;

export interface Growth {
  readonly perMinute: number;
  /** What was in use, mebibytes, in each part of the second half. */
  readonly used: readonly number[];
}

/**
 * The slope of the second half, mebibytes a minute; null while it is too short. Rounds are equal work, so the slope is one
 * by rounds, and a round that was held up by the machine does not make it look smaller.
 */
export function growthOf(all: readonly Footprint[]): Growth | null {
  const half = all.slice(Math.floor(all.length / 2));
  const minutes = half.map((each) => each.minutes).toSorted((a, b) => a - b);
  const usual = minutes[Math.floor(minutes.length / 2)] ?? 0;
  if (half.length < LEAST_ROUNDS || usual * half.length < LEAST_MINUTES) return null;
  const rounds = Math.max(1, Math.ceil(COLLECTED_MINUTES / usual));
  const used = Array.from({ length: Math.floor(half.length / rounds) }, (_, at) =>
    Math.min(...half.slice(at * rounds, (at + 1) * rounds).map(({ mebibytes }) => mebibytes)),
  );
  return { perMinute: Number((slopeOf(used) / (rounds * usual)).toFixed(2)), used: used.map(Math.round) };
}

/** How much each figure has more than the last one, by least squares. */
function slopeOf(figures: readonly number[]): number {
  const middle = (figures.length - 1) / 2;
  const spread = figures.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  return figures.reduce((sum, figure, at) => sum + (at - middle) * figure, 0) / Math.max(1, spread);
}
