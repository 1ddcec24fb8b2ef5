/**
 * What a decode step of so many consecutive sequences costs, measured online. Machines change their speed by a half
 * within seconds, and not all numbers of rows are seen in the same minute; so the speed is one figure for all of them,
 * followed quickly, and what a number of rows costs against one row is another, followed slowly.
 */
const SPEED_WEIGHT = 0.2;
const RATIO_WEIGHT = 0.05;

/** Assumed until measured, and one row is the unit: four rows cost about twice one, and what is left over nearly one each. */
const GROUP = 4;
const COST_OF_GROUP = 2.1;
const COST_OF_SINGLE = 0.9;
/** Just below a group, so that three rows are once tried as they are before a fourth is put beside them. */
const MOST_FOR_REST = 2;

/**
 * The weights are read once per pass, so one pass is never reckoned as dear as the two that it replaces. Without this, a
 * number of rows that was measured in a slow moment would be kept apart, and never be measured again.
 */
const JOINED = 0.95;

/** What a row behind the first of a sequence costs, in rows: assumed until seen, and a dearer one is slowly forgotten. */
const ASSUMED_MORE = 0.3;
const LEAST_MORE = 0.03;
const MORE_WEIGHT = 0.3;
const FORGET_WEIGHT = 0.01;

export class StepTimes {
  #rowMs: number | null = null;
  #more = ASSUMED_MORE;
  readonly #measured = new Map<number, number>();
  /** By rows, in rows; grown when asked, dropped when something was measured. */
  #ratios = [0];

  /** Only a step of consecutive ids was one pass. */
  sawStep(sequences: readonly number[], ms: number): void {
    const ids = [...sequences].sort((a, b) => a - b);
    const [first] = ids;
    if (first === undefined || ids.some((id, i) => id !== first + i)) return;
    const rows = ids.length;
    this.#rowMs ??= ms / assumed(rows);
    const seen = ms / this.#rowMs;
    const isKnown = rows === 1 || this.#measured.has(rows);
    const known = isKnown ? this.#ratio(rows) : believable(rows, seen);
    // One row is the measure of the others.
    if (rows > 1) this.#measured.set(rows, believable(rows, blend(known, seen, RATIO_WEIGHT)));
    this.#rowMs = blend(this.#rowMs, ms / known, SPEED_WEIGHT);
    this.#ratios = [0];
    // What was seen in a slow moment must not forbid for good what would show that it has passed.
    this.#more = Math.min(this.#more, blend(this.#more, ASSUMED_MORE, FORGET_WEIGHT));
  }

  /** A step of these sequences in which so many rows in all stood behind the first ones. */
  sawLonger(plainMs: number, rows: number, ms: number): void {
    const seen = (ms - plainMs) / rows / this.stepMs(1);
    this.#more = blend(this.#more, Math.min(1, Math.max(LEAST_MORE, seen)), MORE_WEIGHT);
  }

  /** What a row behind the first one of a sequence costs, in milliseconds. */
  get moreMs(): number {
    return this.#more * this.stepMs(1);
  }

  /** In milliseconds; before any step, in steps of one row. */
  stepMs(rows: number): number {
    return (this.#rowMs ?? 1) * this.#ratio(rows);
  }

  #ratio(rows: number): number {
    while (this.#ratios.length <= rows) this.#ratios.push(this.#nextRatio());
    return this.#ratios[rows] ?? 0;
  }

  #nextRatio(): number {
    const rows = this.#ratios.length;
    const own = this.#measured.get(rows) ?? assumed(rows);
    const parts = this.#ratios.slice(1).map((ratio, i) => ratio + (this.#ratios[rows - 1 - i] ?? 0));
    return Math.min(own, JOINED * Math.min(...parts));
  }
}

/** A first sample may come from a slow moment, or be compared with steps deep in a context. */
function believable(rows: number, ratio: number): number {
  return Math.min(2 * assumed(rows), Math.max(1, assumed(rows) / 2, ratio));
}

function assumed(rows: number): number {
  if (rows === 1) return 1;
  return Math.floor(rows / GROUP) * COST_OF_GROUP + Math.min(MOST_FOR_REST, (rows % GROUP) * COST_OF_SINGLE);
}

function blend(previous: number, sample: number, weight: number): number {
  return previous * (1 - weight) + sample * weight;
}
