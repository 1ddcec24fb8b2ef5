/**
 * Jobs whose state is on its way from the tiers into a sequence that is reserved for them. Others are decoded meanwhile;
 * what does not come is evaluated.
 */
import { deferred } from '../../lib/base/deferred.ts';
import type { Placement, PrefillingPrompt } from './sequences/placement.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import type { Reuse } from './tiers/cache-facts.ts';
import type { Restoration } from './waiting.ts';

interface Arrival {
  /** `keep`: tokens whose state is in the sequence now. */
  begin(job: StreamJob, place: Pick<Placement, 'id' | 'keep'>, reuse: Omit<Reuse, 'prompt'>): void;
  /** The sequence is free again, and empty. */
  failed(job: StreamJob, error: unknown): void;
}

export class Restoring {
  readonly #sequences: Sequences;
  readonly #arrival: Arrival;
  readonly #jobs = new Map<string, { readonly job: StreamJob; readonly sequence: number }>();
  /** The sequences of running restores, including those of cancelled jobs. */
  readonly #underWay = new Set<number>();
  #change = deferred<void>();

  constructor(sequences: Sequences, arrival: Arrival) {
    this.#sequences = sequences;
    this.#arrival = arrival;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Their prompts, and the restored part of their state. */
  get prompts(): PrefillingPrompt[] {
    return [...this.#jobs.values()].map(({ job: { prompt, owner }, sequence }) => ({
      prompt,
      owner,
      position: this.#sequences.held(sequence),
    }));
  }

  /** Whether part of the state of a running restore has arrived. */
  get holdsCells(): boolean {
    return [...this.#underWay].some((sequence) => this.#sequences.held(sequence) > 0);
  }

  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** Whether the job was here. Its sequence is free again once the restore ends. */
  remove(jobId: string): boolean {
    return this.#jobs.delete(jobId);
  }

  /** Returns all jobs and removes them. */
  removeAll(): StreamJob[] {
    const removed = [...this.#jobs.values()].map(({ job }) => job);
    this.#jobs.clear();
    return removed;
  }

  wake(): void {
    this.#change.resolve();
  }

  /** Until a restore is over or `wake` is called; at once where nothing is under way: no restore, and nothing of others. */
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
