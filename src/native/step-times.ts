/** What a decode step of so many rows costs, measured online; between measurements a typical CPU's shape is assumed. */
const WEIGHT = 0.2;
/** Each further row costs about a quarter of the first, which reads the weights for all. */
const SHARE_OF_FURTHER_ROW = 0.25;

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
  return 1 + SHARE_OF_FURTHER_ROW * (rows - 1);
}
