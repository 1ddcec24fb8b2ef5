/**
 * Order of images: at most one call of image rows per step, in addition to the planned calls. The longest-waiting
 * stream with encoded rows is next. Pure.
 */
import type { PlannedCall } from './planning/step-planner.ts';
import type { Stream } from './stream/stream.ts';

type Waiting = Pick<Stream, 'sequence' | 'position' | 'images' | 'isDecoding' | 'remaining'>;

export class ImageTurns {
  readonly #turns = new Map<number, number>();
  #turn = 0;

  /** `mostRows` of one native call. An image that needs more in one piece was refused before. */
  call(streams: readonly Waiting[], mostRows: number): PlannedCall | null {
    const ready = streams.filter(({ images, position }) => images.at(position)?.isReady === true);
    const [next] = ready.sort((a, b) => this.#lastTurn(a) - this.#lastTurn(b));
    const image = next?.images.at(next.position) ?? null;
    if (next === undefined || image === null) return null;
    this.#turn += 1;
    this.#turns.set(next.sequence, this.#turn);
    const { sequence, position } = next;
    const tokens = Math.min(image.rows, mostRows);
    const row = { kind: 'image', sequence, position, tokens, padding: 0 } as const;
    return { phase: 'prefill', rows: [row], expectedMs: Number.POSITIVE_INFINITY };
  }

  areAwaited(streams: Iterable<Waiting>): boolean {
    return [...streams].some(({ images, position }) => images.at(position)?.isReady === false);
  }

  #lastTurn({ sequence }: Waiting): number {
    return this.#turns.get(sequence) ?? 0;
  }
}
