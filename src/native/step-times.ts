/**
 * What a decode step of so many rows costs, measured online; for a number of rows not seen yet the shape measured on
 * a CPU is assumed: four rows cost about twice one, and every row beyond a group of four nearly one each.
 */
const WEIGHT = 0.2;
const GROUP = 4;
const COST_OF_GROUP = 2.1;
const COST_OF_SINGLE = 0.9;

export class StepTimes {
  readonly #ms = new Map<number, number>();

  /** Only a step of consecutive ids was one run. */
  sawStep(sequences: readonly number[], ms: number): void {
    const ids = [...sequences].sort((a, b) => a - b);
    const first = ids[0];
    if (first === undefined || ids.some((id, i) => id !== first + i)) return;
    const previous = this.#ms.get(ids.length);
    this.#ms.set(ids.length, previous === undefined ? ms : previous * (1 - WEIGHT) + ms * WEIGHT);
  }

  stepMs(rows: number): number {
    const measured = this.#ms.get(rows);
    if (measured !== undefined) return measured;
    const nearest = [...this.#ms.keys()].sort((a, b) => Math.abs(a - rows) - Math.abs(b - rows))[0];
    if (nearest === undefined) return shape(rows);
    return ((this.#ms.get(nearest) ?? 1) * shape(rows)) / shape(nearest);
  }
}

function shape(rows: number): number {
  return Math.floor(rows / GROUP) * COST_OF_GROUP + (rows % GROUP) * COST_OF_SINGLE;
}
