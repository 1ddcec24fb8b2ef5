/** A line through points by least squares. Pure. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Line {
  readonly meanX: number;
  readonly meanY: number;
  /** Variance of x. */
  readonly spread: number;
  /** How much y grows with x; 0 where all x are the same. */
  readonly slope: number;
}

export function fitLine(points: readonly Point[]): Line {
  const meanX = meanOf(points, ({ x }) => x);
  const meanY = meanOf(points, ({ y }) => y);
  const spread = meanOf(points, ({ x }) => (x - meanX) ** 2);
  const together = meanOf(points, ({ x, y }) => (x - meanX) * (y - meanY));
  return { meanX, meanY, spread, slope: spread === 0 ? 0 : together / spread };
}

function meanOf(points: readonly Point[], value: (point: Point) => number): number {
  return points.reduce((sum, point) => sum + value(point), 0) / Math.max(1, points.length);
}
