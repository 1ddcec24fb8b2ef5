/**
 * What a decode step of so many consecutive sequences costs, measured online. Machines change their speed by half
 * within seconds, and not all numbers of rows are seen in the same minute. So the speed is one figure for all of them,
 * followed quickly; what a number of rows costs relative to one row is another, followed slowly.
 */
import { ROW_GROUP, STEP_COSTS } from './tuning.ts';

export class StepTimes {
  #rowMs: number | null = null;
  /** What a row after the first of a sequence costs, in rows. */
  #extraRow: number = STEP_COSTS.assumedExtraRow;
  readonly #measured = new Map<number, number>();
  /** By number of rows, in rows; filled on demand, dropped after each measurement. */
  #ratios = [0];

  /** A step with one row per sequence. Only consecutive ids were one pass. */
  observe(sequences: readonly number[], ms: number): void {
    const ids = [...sequences].sort((a, b) => a - b);
    const [first] = ids;
    if (first === undefined || ids.some((id, i) => id !== first + i)) return;
    const rows = ids.length;
    this.#rowMs ??= ms / assumed(rows);
    const seen = ms / this.#rowMs;
    const isMeasured = rows === 1 || this.#measured.has(rows);
    const ratio = isMeasured ? this.#ratio(rows) : believable(rows, seen);
    // One row is the unit of the others.
    if (rows > 1) this.#measured.set(rows, believable(rows, blend(ratio, seen, STEP_COSTS.ratioWeight)));
    this.#rowMs = blend(this.#rowMs, ms / ratio, STEP_COSTS.speedWeight);
    this.#ratios = [0];
    const { assumedExtraRow, forgetWeight } = STEP_COSTS;
    this.#extraRow = Math.min(this.#extraRow, blend(this.#extraRow, assumedExtraRow, forgetWeight));
  }

  /** A step with this many rows in all after the first ones; without them it would have taken `plainMs`. */
  observeExtraRows({ plainMs, rows, ms }: Readonly<Record<'plainMs' | 'rows' | 'ms', number>>): void {
    const seen = (ms - plainMs) / rows / this.stepMs(1);
    const bounded = Math.min(1, Math.max(STEP_COSTS.leastExtraRow, seen));
    this.#extraRow = blend(this.#extraRow, bounded, STEP_COSTS.extraRowWeight);
  }

  /** What a row after the first one of a sequence costs, in milliseconds. */
  get extraRowMs(): number {
    return this.#extraRow * this.stepMs(1);
  }

  /** In milliseconds; before any step, in steps of one row. */
  stepMs(rows: number): number {
    return (this.#rowMs ?? 1) * this.#ratio(rows);
  }

  #ratio(rows: number): number {
    while (this.#ratios.length <= rows) this.#ratios.push(this.#nextRatio());
    return this.#ratios[rows] ?? 0;
  }

  /** One pass never counts as more than nearly the two that it replaces: the weights are read once per pass. */
  #nextRatio(): number {
    const rows = this.#ratios.length;
    const measured = this.#measured.get(rows) ?? assumed(rows);
    const parts = this.#ratios.slice(1).map((ratio, i) => ratio + (this.#ratios[rows - 1 - i] ?? 0));
    return Math.min(measured, STEP_COSTS.joinedRatio * Math.min(...parts));
  }
}

/** A first sample may come from a slow moment, or be compared with steps deep in a context. */
function believable(rows: number, ratio: number): number {
  return Math.min(2 * assumed(rows), Math.max(1, assumed(rows) / 2, ratio));
}

function assumed(rows: number): number {
  if (rows === 1) return 1;
  const { groupRatio, singleRatio, mostForRest } = STEP_COSTS;
  const rest = Math.min(mostForRest, (rows % ROW_GROUP) * singleRatio);
  return Math.floor(rows / ROW_GROUP) * groupRatio + rest;
}

function blend(previous: number, sample: number, weight: number): number {
  return previous * (1 - weight) + sample * weight;
}
