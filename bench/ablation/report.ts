/** The table of the ablation: what each mechanism wins, best figure first. Pure. */
import { compareNeighbours, type Comparison, type Pair, ratioText } from '../neighbours.ts';
import { rounded } from '../statistics.ts';

/** A mechanism that wins less on every workload goes. */
export const LEAST_GAIN = 1.03;

/** One trial of a mechanism with one model: `a` is with it, `b` without. */
export interface Measured {
  readonly mechanism: string;
  readonly lines: number;
  readonly model: string;
  readonly workload: string;
  readonly figures: readonly string[];
  readonly pairs: readonly Pair[];
}

interface Row extends Comparison {
  readonly measured: Measured;
  /** How much better with the mechanism; above 1: it wins. */
  readonly gain: number;
}

/** Milliseconds, seconds and tokens that are evaluated are better when fewer; rates are better when higher. */
export const isBetterLess = (figure: string): boolean => !figure.endsWith('/s');

function rowsFor(measured: Measured): Row[] {
  return compareNeighbours(measured.pairs)
    .filter(({ figure }) => measured.figures.includes(figure))
    .map((found) => ({
      ...found,
      measured,
      gain: isBetterLess(found.figure) ? 1 / found.ratio : found.ratio,
    }));
}

const percent = (gain: number): string => `${gain >= 1 ? '+' : ''}${((gain - 1) * 100).toFixed(1)} %`;

function verdict(gain: number): string {
  return gain >= LEAST_GAIN ? 'stays' : 'below 3 %';
}

export function ablationTable(all: readonly Measured[]): string {
  const rows = all.flatMap(rowsFor);
  const names = [...new Set(all.map(({ mechanism }) => mechanism))];
  const best = names.flatMap((name) => {
    const own = rows.filter(({ measured }) => measured.mechanism === name);
    const [first] = own.sort((one, other) => other.gain - one.gain);
    return first === undefined ? [] : [first];
  });
  const summary = best
    .sort((one, other) => other.gain - one.gain)
    .map(({ measured, figure, gain }) => {
      const where = `${measured.workload}, ${figure}, ${measured.model}`;
      return `| ${measured.mechanism} | ${measured.lines} | ${percent(gain)} | ${where} | ${verdict(gain)} |`;
    });
  const details = rows.map(
    ({ measured, figure, a, b, gain, ...found }) =>
      `| ${measured.mechanism} | ${measured.model} | ${measured.workload} | ${figure} | ${rounded(a)} | ${rounded(b)} | ${percent(gain)} | ${ratioText({ figure, a, b, ...found })} | ${found.rounds} |`,
  );
  return [
    '| mechanism | lines | best gain | where | verdict |',
    '|---|---|---|---|---|',
    ...summary,
    '',
    '| mechanism | model | workload, streams | figure | on | off | gain | on/off (least to most) | rounds |',
    '|---|---|---|---|---|---|---|---|---|',
    ...details,
    '',
  ].join('\n');
}
