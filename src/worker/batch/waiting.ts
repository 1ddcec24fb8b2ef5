/** Jobs without a sequence: lingers for more of them if the loop was idle, and assigns sequences. */
import { setTimeout } from 'node:timers/promises';
import type { StepPlanner } from './planning/step-planner.ts';
import { CELL_LIMITS, COPY_LIMITS, LINGER_LIMITS } from './planning/tuning.ts';
import {
  awaitsBorder,
  awaitsSharedPrefix,
  type Placement,
  type PrefillingPrompt,
} from './sequences/placement.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import type { HeldBefore } from './tiers/cache-facts.ts';
import type { Restorable, Tiers } from './tiers/tiers.ts';

export interface Restoration {
  readonly tiers: Tiers;
  readonly wanted: Restorable;
  readonly before: HeldBefore;
}

interface Admission {
  restore(job: StreamJob, placement: Placement, restoration: Restoration): void;
  begin(job: StreamJob, placement: Placement, before: HeldBefore): void;
  failed(job: StreamJob, error: unknown): void;
}

/** Chosen: assumed tokens of an answer, whose length is unknown. */
const ANSWER_TOKENS = 128;

export class Waiting {
  readonly #sequences: Sequences;
  readonly #planner: StepPlanner;
  readonly #tiers: Tiers | null;
  #jobs: StreamJob[] = [];
  #fruitlessWaits = 0;

  constructor(sequences: Sequences, planner: StepPlanner, tiers: Tiers | null = null) {
    this.#sequences = sequences;
    this.#planner = planner;
    this.#tiers = tiers;
  }

  get size(): number {
    return this.#jobs.length;
  }

  has(jobId: string): boolean {
    return this.#jobs.some((waiting) => waiting.job.jobId === jobId);
  }

  push(job: StreamJob): void {
    this.#jobs.push(job);
  }

  remove(jobId: string): boolean {
    const found = this.has(jobId);
    this.#jobs = this.#jobs.filter((waiting) => waiting.job.jobId !== jobId);
    return found;
  }

  removeAll(): StreamJob[] {
    const removed = this.#jobs;
    this.#jobs = [];
    return removed;
  }

  /** A request arrived while another was running, so lingering may pay again. */
  noteOverlap(): void {
    this.#fruitlessWaits = 0;
  }

  /**
   * Requests that a client sends together arrive a few milliseconds apart, so the first one lingers for the others.
   * If requests only ever follow one another, lingering soon stops.
   */
  async linger(): Promise<void> {
    if (this.#fruitlessWaits >= LINGER_LIMITS.fruitlessWaits) return;
    const mostMs = this.#planner.lingerMs(this.#tokensToPrefill());
    if (mostMs <= 0) return;
    const startedMs = performance.now();
    let seen: number;
    do {
      seen = this.#jobs.length;
      await setTimeout(LINGER_LIMITS.pauseMs);
    } while (this.#jobs.length > seen && performance.now() - startedMs < mostMs);
    this.#fruitlessWaits = this.#jobs.length > 1 ? 0 : this.#fruitlessWaits + 1;
  }

  /**
   * In order of arrival, but first jobs that continue a sequence, so that no other job takes it. A job that shares
   * its beginning with a prompt in prefill waits for that. A job leaves the queue when it begins, so that it can be
   * cancelled at any moment.
   */
  assignSequences(prefilling: readonly PrefillingPrompt[], admission: Admission): void {
    const begun: PrefillingPrompt[] = [...prefilling];
    for (const waiting of this.#inOrder()) {
      const wanted = this.#preview(waiting);
      if (wanted === null || !this.#hasRoom(waiting, wanted, begun)) return;
      const { prompt, owner } = waiting;
      const reusable = { owner, prompt: this.#sequences.reusable(waiting) };
      const kept = this.#tiers?.beyond(owner, reusable.prompt, wanted.keep) ?? null;
      const restorable = kept === 'not_worth' ? null : kept;
      if (
        awaitsSharedPrefix(
          reusable,
          begun,
          { ...wanted, keep: restorable?.length ?? wanted.keep },
          (tokens) => this.#sequences.mostReused(tokens),
        ) ||
        (this.#tiers !== null &&
          awaitsBorder(reusable, begun, { keep: restorable?.length ?? wanted.keep }, COPY_LIMITS.leastTokens))
      )
        continue;
      const before = this.#heldBefore(waiting);
      try {
        if (this.#tiers !== null && restorable !== null) {
          this.#sequences.reserve(wanted.id, owner);
          this.remove(waiting.job.jobId);
          begun.push({ prompt, owner, position: 0, border: waiting.sharedTokens });
          this.#setAside(waiting, wanted.id, restorable.length);
          admission.restore(waiting, wanted, { tiers: this.#tiers, wanted: restorable, before });
          continue;
        }
        const placement = this.#sequences.take(wanted, owner);
        this.remove(waiting.job.jobId);
        begun.push({ prompt, owner, position: placement.keep, border: waiting.sharedTokens });
        this.#setAside(waiting, placement.id, placement.keep);
        admission.begin(waiting, placement, before);
      } catch (error) {
        this.remove(waiting.job.jobId);
        this.#sequences.giveUp(wanted.id);
        admission.failed(waiting, error);
      }
    }
  }

  /** Room for the prompt and the beginning of an answer: evaluating a prompt without room for its answer is useless. */
  #hasRoom({ prompt }: StreamJob, { keep }: Placement, begun: readonly PrefillingPrompt[]): boolean {
    const promised = begun.reduce((sum, other) => sum + other.prompt.length - other.position, 0);
    return this.#sequences.hasRoomFor(promised + prompt.length - keep + CELL_LIMITS.answerTokens);
  }

  #setAside({ prompt, job }: StreamJob, id: number, reused: number): void {
    const answerTokens = Math.min(job.maxTokens ?? ANSWER_TOKENS, ANSWER_TOKENS);
    this.#sequences.setAside(id, { promptTokens: prompt.length - reused, answerTokens });
  }

  /** Call before the placement is carried out, which cuts all state that the prompt does not begin with. */
  #heldBefore(job: StreamJob): HeldBefore {
    const inSequence = this.#sequences.nearest(job);
    const inTiers = this.#tiers?.nearest(job.owner, job.prompt) ?? null;
    const nearest = (inTiers?.common ?? 0) > (inSequence?.common ?? 0) ? inTiers : inSequence;
    const wasHeld = this.#tiers?.wasHeld(job.owner, job.prompt, nearest?.common ?? 0) ?? false;
    // Memory that can be cut anywhere could have been copied or restored, at a cost above its gain.
    return { nearest, refusal: this.#sequences.canCut ? 'not_worth' : 'no_checkpoint', wasHeld };
  }

  #preview(waiting: StreamJob): Placement | null {
    return this.#sequences.preview(waiting);
  }

  #inOrder(): StreamJob[] {
    const continues = (job: StreamJob): boolean => this.#preview(job)?.continues === true;
    const first = this.#jobs.length > 1 ? this.#jobs.filter(continues) : [];
    return [...first, ...this.#jobs.filter((job) => !first.includes(job))];
  }

  #tokensToPrefill(): number {
    const rest = (job: StreamJob): number => job.prompt.length - (this.#preview(job)?.keep ?? 0);
    return this.#jobs.reduce((sum, job) => sum + rest(job), 0);
  }
}
