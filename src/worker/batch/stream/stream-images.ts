/**
 * The images of one prompt. Their rows are encoded while steps continue, so only this stream waits, and are evaluated
 * in calls of their own.
 */
import type { PromptRun } from '../../media/media-encoder.ts';
import { runStarts } from '../../media/rows.ts';
import type { MediumRows } from '../../native.ts';

interface PlacedRun {
  readonly run: PromptRun;
  readonly start: number;
  readonly end: number;
  /** Positions saved by it and all images before it. */
  readonly spared: number;
  rows: Float32Array | null;
  isAsked: boolean;
}

export class StreamImages {
  readonly #placed: readonly PlacedRun[];
  readonly #onChange: () => void;
  #failure: { readonly error: unknown } | null = null;

  constructor(prompt: Uint32Array, runs: readonly PromptRun[], onChange: () => void) {
    const starts = runs.length === 0 ? [] : runStarts(prompt);
    let spared = 0;
    this.#placed = starts.map((start, at) => {
      const run = runs[at];
      if (run === undefined) throw new Error('a prompt has more images than its job');
      spared += run.rows - run.positions;
      return { run, start, end: start + run.rows, spared, rows: null, isAsked: false };
    });
    this.#onChange = onChange;
  }

  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  want(position: number): void {
    for (const placed of this.#placed) {
      if (placed.end <= position || placed.isAsked) continue;
      placed.isAsked = true;
      void placed.run
        .encode()
        .then((rows) => {
          placed.rows = rows;
        })
        .catch((error: unknown) => {
          this.#failure ??= { error };
        })
        .finally(this.#onChange);
    }
  }

  nextStart(position: number): number | null {
    return this.#placed.find(({ end }) => end > position)?.start ?? null;
  }

  at(
    position: number,
  ): { readonly rows: number; readonly isWhole: boolean; readonly isReady: boolean } | null {
    const found = this.#covering(position);
    if (found === undefined) return null;
    return { rows: found.end - position, isWhole: found.run.isWhole, isReady: found.rows !== null };
  }

  rowsAt(position: number, count: number): Omit<MediumRows, 'sequence'> {
    const found = this.#covering(position);
    if (found?.rows == null) throw new Error('the rows of an image are not here');
    const { run, start, rows } = found;
    const width = rows.length / run.rows;
    const from = position - start;
    const planes = run.positionsFrom(start - this.sparedBefore(start));
    return {
      values: rows.subarray(from * width, (from + count) * width),
      positions: sliceOfPlanes(planes, run.rows, from, count),
      isWhole: run.isWhole,
    };
  }

  sparedBefore(position: number): number {
    return this.#placed.findLast(({ end }) => end <= position)?.spared ?? 0;
  }

  /** Frees the rows of images before the position: they are in the sequence. */
  passed(position: number): void {
    for (const placed of this.#placed) {
      if (placed.end > position) return;
      placed.rows = null;
      placed.isAsked = false;
    }
  }

  #covering(position: number): PlacedRun | undefined {
    return this.#placed.find(({ start, end }) => start <= position && position < end);
  }
}

function sliceOfPlanes(planes: Int32Array, rows: number, from: number, count: number): Int32Array {
  const found = new Int32Array((planes.length / rows) * count);
  for (let plane = 0; plane * rows < planes.length; plane += 1)
    found.set(planes.subarray(plane * rows + from, plane * rows + from + count), plane * count);
  return found;
}
