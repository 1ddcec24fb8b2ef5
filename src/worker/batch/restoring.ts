/**
 * Jobs whose state is being restored from the tiers into a sequence reserved for them. Other jobs decode meanwhile;
 * state that cannot be restored is evaluated.
 */
import { deferred } from '../../lib/base/deferred.ts';
import type { Placement, PrefillingPrompt } from './sequences/placement.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import type { Reuse } from './tiers/cache-facts.ts';
import type { Restoration } from './waiting.ts';

interface Arrival {
  begin(job: StreamJob, place: Pick<Placement, 'id' | 'keep'>, reuse: Omit<Reuse, 'prompt'>): void;
  failed(job: StreamJob, error: unknown): void;
}

export class Restoring {
  readonly #sequences: Sequences;
  readonly #arrival: Arrival;
  readonly #jobs = new Map<string, { readonly job: StreamJob; readonly sequence: number }>();
  readonly #underWay = new Set<number>();
  #change = deferred<void>();

  constructor(sequences: Sequences, arrival: Arrival) {
    this.#sequences = sequences;
    this.#arrival = arrival;
  }

  get size(): number {
    return this.#jobs.size;
  }

  get prompts(): PrefillingPrompt[] {
    return [...this.#jobs.values()].map(({ job: { prompt, owner }, sequence }) => ({
      prompt,
      owner,
      position: this.#sequences.held(sequence),
    }));
  }

  get holdsCells(): boolean {
    return [...this.#underWay].some((sequence) => this.#sequences.held(sequence) > 0);
  }

  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** False if the job is unknown. Its sequence is free again once the restore ends. */
  remove(jobId: string): boolean {
    return this.#jobs.delete(jobId);
  }

  removeAll(): StreamJob[] {
    const removed = [...this.#jobs.values()].map(({ job }) => job);
    this.#jobs.clear();
    return removed;
  }

  wake(): void {
    this.#change.resolve();
  }

  async untilChange(othersAreAwaited = false): Promise<void> {
    if (othersAreAwaited || this.#underWay.size > 0) await this.#change.promise;
    this.#change = deferred();
  }

  async restore(job: StreamJob, { id }: Placement, { tiers, wanted, before }: Restoration): Promise<void> {
    const { jobId } = job.job;
    this.#jobs.set(jobId, { job, sequence: id });
    this.#underWay.add(id);
    const sequence = this.#sequences.takerFor(id, job.prompt);
    let isWanted = true;
    try {
      const taker = {
        inParts: sequence.inParts,
        take: (state: Uint8Array, tokens: number) => this.#jobs.has(jobId) && sequence.take(state, tokens),
      };
      const { refusal, ...restored } = await tiers.restore(wanted, taker).finally(() => {
        isWanted = this.#jobs.delete(jobId);
      });
      if (!isWanted) return this.#sequences.giveUp(id);
      const keep = this.#sequences.backToBorder(id, job.prompt);
      const lost = restored.ramTokens + restored.diskTokens - keep;
      const ramTokens = Math.max(0, restored.ramTokens - lost);
      const taken = { ramTokens, diskTokens: keep - ramTokens, restoreMs: restored.restoreMs };
      const reuse = { ...before, ...taken, refusal: refusal ?? before.refusal, slotTokens: 0 };
      this.#arrival.begin(job, { id, keep }, reuse);
    } catch (error) {
      this.#sequences.giveUp(id);
      if (isWanted) this.#arrival.failed(job, error);
    } finally {
      this.#underWay.delete(id);
      this.wake();
    }
  }
}
