/**
 * Jobs whose state is on its way from the tiers into a sequence that is reserved for them. Others are decoded meanwhile;
 * what does not come is evaluated.
 */
import { deferred } from '../../lib/base/deferred.ts';
import type { Placement, PrefillingPrompt } from './sequences/placement.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import type { Reuse } from './tiers/cache-facts.ts';
import type { Restored } from './tiers/tiers.ts';
import type { Restoration } from './waiting.ts';

export interface Arrival {
  /** `keep`: tokens whose state is in the sequence now. */
  begin(job: StreamJob, place: Pick<Placement, 'id' | 'keep'>, reuse: Omit<Reuse, 'prompt'>): void;
  /** The sequence is free again, and empty. */
  failed(job: StreamJob, error: unknown): void;
}

export class Restoring {
  readonly #sequences: Sequences;
  readonly #arrival: Arrival;
  readonly #jobs = new Map<string, StreamJob>();
  /** Restores under way, those of jobs that were cancelled meanwhile included. */
  #underWay = 0;
  #change = deferred<void>();

  constructor(sequences: Sequences, arrival: Arrival) {
    this.#sequences = sequences;
    this.#arrival = arrival;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Their prompts; nothing of their state can be copied yet. */
  get prompts(): PrefillingPrompt[] {
    return [...this.#jobs.values()].map(({ prompt, owner }) => ({ prompt, owner, position: 0 }));
  }

  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** Whether the job was here. Its sequence is free again once the state has come. */
  remove(jobId: string): boolean {
    return this.#jobs.delete(jobId);
  }

  /** All that are here; none is afterwards. */
  removeAll(): StreamJob[] {
    const removed = [...this.#jobs.values()];
    this.#jobs.clear();
    return removed;
  }

  /** Ends the wait of `untilChange`. */
  wake(): void {
    this.#change.resolve();
  }

  /** Until a restore is over or `wake` is called; at once where none is under way. */
  async untilChange(): Promise<void> {
    if (this.#underWay > 0) await this.#change.promise;
    this.#change = deferred();
  }

  async restore(job: StreamJob, { id }: Placement, { tiers, wanted, before }: Restoration): Promise<void> {
    const { jobId } = job.job;
    this.#jobs.set(jobId, job);
    this.#underWay += 1;
    let isWanted = true;
    try {
      const restored = await tiers.restore(wanted).finally(() => {
        isWanted = this.#jobs.delete(jobId);
      });
      if (!isWanted) return this.#sequences.giveUp(id);
      const { keep, ...reuse } = this.#bring(job, id, restored);
      if (keep > 0) tiers.restored(restored.restorable, restored.restoreMs);
      const refusal = reuse.refusal ?? before.refusal;
      this.#arrival.begin(job, { id, keep }, { ...before, ...reuse, refusal, slotTokens: 0 });
    } catch (error) {
      this.#sequences.giveUp(id);
      if (isWanted) this.#arrival.failed(job, error);
    } finally {
      this.#underWay -= 1;
      this.wake();
    }
  }

  /** Puts what came into the sequence, and says what is there now and from where. */
  #bring({ prompt }: StreamJob, id: number, { state, restorable, refusal, restoreMs }: Restored) {
    const nothing = { keep: 0, ramTokens: 0, diskTokens: 0, restoreMs };
    if (state === null) return { ...nothing, refusal };
    const { length, found } = restorable;
    if (!this.#sequences.restore(id, prompt.subarray(0, length), state))
      return { ...nothing, refusal: 'not_restored' as const };
    const { ramTokens, diskTokens } = found;
    return { keep: length, ramTokens, diskTokens, restoreMs, refusal };
  }
}
