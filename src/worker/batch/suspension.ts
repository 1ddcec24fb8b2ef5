/**
 * Suspends answers if sequences share fewer KV cells than they need: idle state is evicted first, then the youngest
 * answers wait, and later evaluate their state again.
 */
import { cellsFilled, type StepPlan, withoutPadding } from './planning/step-planner.ts';
import { CELL_LIMITS } from './planning/tuning.ts';
import type { Restoring } from './restoring.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { Stream } from './stream/stream.ts';

type Suspendable = Pick<Stream, 'sequence' | 'remaining' | 'suspend'>;

const NOTHING: StepPlan = { calls: [] };

export class Suspension<S extends Suspendable> {
  readonly #sequences: Sequences;
  readonly #restoring: Pick<Restoring, 'holdsCells'>;
  readonly #suspended = new Set<S>();

  constructor(sequences: Sequences, restoring: Pick<Restoring, 'holdsCells'>) {
    this.#sequences = sequences;
    this.#restoring = restoring;
  }

  get size(): number {
    return this.#suspended.size;
  }

  has(stream: S): boolean {
    return this.#suspended.has(stream);
  }

  remove(stream: S): void {
    this.#suspended.delete(stream);
  }

  running(streams: Iterable<S>): S[] {
    return [...streams].filter((stream) => !this.#suspended.has(stream));
  }

  /** In order of suspension, each once there is room for everything that it evaluates again. */
  resume(): void {
    let promised = 0;
    for (const stream of this.#suspended) {
      promised += stream.remaining + CELL_LIMITS.answerTokens;
      if (!this.#sequences.hasRoomFor(promised)) return;
      this.#suspended.delete(stream);
    }
  }

  /** Returns a plan that fits the free cells; calls `plan` again after each suspension. `streams`: the oldest first. */
  planWithRoom(streams: Iterable<S>, plan: (running: readonly S[]) => StepPlan): StepPlan {
    for (;;) {
      const running = this.running(streams);
      const wanted = plan(running);
      if (this.#sequences.hasFree(cellsFilled(wanted))) return wanted;
      // No state is evicted for rows that only make a step cheaper.
      const needed = withoutPadding(wanted);
      if (this.#sequences.makeRoom(cellsFilled(needed))) return needed;
      // The job of a restore is the youngest. Its next part finds no room, so it begins with what it has, and can
      // wait.
      if (this.#restoring.holdsCells) return NOTHING;
      const youngest = running.at(-1);
      // A single one has room for its whole window.
      if (youngest === undefined || running.length === 1) return needed;
      this.#suspended.add(youngest);
      youngest.suspend();
      this.#sequences.empty(youngest.sequence);
    }
  }
}
