/** Reads a value between measured ones. Pure. */

export interface Knot {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Exact where the truth is a line, and where it bends down once between two knots whose neighbours lie on the lines: a
 * sliding window stops growing there. A chord would cut that corner off and promise too little, so the lines of the
 * neighbouring segments are followed to where they meet. Above the last knot its line goes on; below the first one nothing
 * is known to become less.
 */
export function estimateAt(at: number, knots: readonly Knot[]): number {
  const sorted = [...knots].sort((a, b) => a.at - b.at);
  if (sorted.length < 2) return sorted[0]?.bytes ?? 0;
  const found = sorted.findIndex((knot) => knot.at >= at);
  if (found === 0) return sorted[0]?.bytes ?? 0;
  const right = found < 0 ? sorted.length - 1 : found;
  const segment = (last: number): number => onLine(at, sorted[last - 1], sorted[last]);
  const chord = segment(right);
  if (found < 0) return chord;
  return Math.max(chord, Math.min(segment(right - 1), segment(right + 1), sorted[right]?.bytes ?? chord));
}

/** Infinite beside the outer knots: no bound. */
function onLine(at: number, from: Knot | undefined, to: Knot | undefined): number {
  if (from === undefined || to === undefined) return Number.POSITIVE_INFINITY;
  return from.bytes + ((at - from.at) / (to.at - from.at)) * (to.bytes - from.bytes);
}
