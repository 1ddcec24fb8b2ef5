/**
 * Two sides measured in turn, round after round: what counts is the median ratio of neighbours, because a machine
 * changes its speed between rounds more than within one.
 */
import { type Figures, median } from './statistics.ts';

export interface Pair {
  readonly a: Figures;
  readonly b: Figures;
}

export interface Comparison {
  readonly figure: string;
  readonly a: number;
  readonly b: number;
  /** a/b of neighbours. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  /** Rounds in which both sides had the figure. */
  readonly rounds: number;
}

/** One comparison per figure that some round has of both sides, in the order in which the figures first came. */
export function compareNeighbours(pairs: readonly Pair[]): Comparison[] {
  const figures = new Set(pairs.flatMap(({ a }) => Object.keys(a)));
  return [...figures].flatMap((figure) => {
    const complete = pairs.flatMap(({ a, b }) => {
      const [valueA, valueB] = [a[figure], b[figure]];
      return valueA === undefined || valueB === undefined ? [] : [{ a: valueA, b: valueB }];
    });
    return complete.length === 0 ? [] : [comparison(figure, complete)];
  });
}

function comparison(figure: string, complete: readonly { a: number; b: number }[]): Comparison {
  const ratios = complete.map(({ a, b }) => a / b);
  return {
    figure,
    a: median(complete.map(({ a }) => a)),
    b: median(complete.map(({ b }) => b)),
    ratio: median(ratios),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    rounds: complete.length,
  };
}

/** Nothing has no ratio to nothing. */
export function ratioText({ ratio, least, most }: Comparison): string {
  if (Number.isNaN(ratio)) return '';
  return `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
}

/** Runs both sides, the one that goes first changing from round to round. */
export async function inTurn(
  round: number,
  runA: () => Promise<Figures>,
  runB: () => Promise<Figures>,
): Promise<Pair> {
  if (round % 2 === 0) {
    const a = await runA();
    return { a, b: await runB() };
  }
  const b = await runB();
  return { a: await runA(), b };
}
