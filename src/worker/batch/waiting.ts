/**
 * Jobs that have come and have no sequence yet: waits a moment for their company, and gives them sequences. The batch
 * loop owns what happens to them then.
 */
import { setTimeout } from 'node:timers/promises';
import { BURST_LIMITS, GATHER_LOOK_MS, gatherMs } from './planning/burst.ts';
import type { Generation } from './generation.ts';
import { type Placement, type Reading, worthWaiting } from './prompt-cache.ts';
import type { LoopCost, Sequences } from './sequences.ts';

export interface Entry {
  begin(generation: Generation, placement: Placement): void;
  /** Its sequence is free again, and empty. */
  failed(generation: Generation, error: unknown): void;
}

export class Waiting {
  readonly #sequences: Sequences;
  #jobs: Generation[] = [];
  /** Waits for company to which nobody came, since there last was any. */
  #waitedInVain = 0;

  constructor(sequences: Sequences) {
    this.#sequences = sequences;
  }

  get size(): number {
    return this.#jobs.length;
  }

  push(generation: Generation): void {
    this.#jobs.push(generation);
  }

  find(jobId: string): Generation | undefined {
    return this.#jobs.find((generation) => generation.jobId === jobId);
  }

  /** Takes those out that `leaves` says. */
  take(leaves: (generation: Generation) => boolean): Generation[] {
    const taken = this.#jobs.filter(leaves);
    this.#jobs = this.#jobs.filter((generation) => !taken.includes(generation));
    return taken;
  }

  /** A job came while another was at work. */
  sawCompany(): void {
    this.#waitedInVain = 0;
  }

  /**
   * Requests that are sent together come some milliseconds apart; the first one waits a little for the others. Where
   * requests only ever follow one another, that is soon given up.
   */
  async gather(cost: () => LoopCost, msPerToken: number | null): Promise<void> {
    if (this.#waitedInVain >= BURST_LIMITS.waitsInVain) return;
    const started = performance.now();
    for (;;) {
      const wait = gatherMs(this.#unread(cost()), msPerToken);
      const left = wait - (performance.now() - started);
      if (left <= 0) {
        if (wait > 0) this.#waitedInVain = this.#jobs.length > 1 ? 0 : this.#waitedInVain + 1;
        return;
      }
      await setTimeout(Math.min(left, GATHER_LOOK_MS));
    }
  }

  /**
   * Gives sequences to as many as there are, in order of arrival, but first to those that continue what a sequence
   * holds, so that nobody else takes it. One that shares its beginning with a prompt being read waits for that.
   */
  async place(reading: readonly Reading[], cost: () => LoopCost, entry: Entry): Promise<void> {
    const begun: Reading[] = [...reading];
    for (const generation of this.#inOrder(cost())) {
      const wanted = this.#sequences.preview(generation.prompt, cost());
      if (wanted === null) return;
      if (worthWaiting(generation.prompt, begun, wanted)) continue;
      this.take((job) => job === generation);
      try {
        const placement = await this.#sequences.take(wanted);
        begun.push({ prompt: generation.prompt, position: placement.keep });
        entry.begin(generation, placement);
      } catch (error) {
        await this.#sequences.giveUp(wanted.id);
        entry.failed(generation, error);
      }
    }
  }

  #inOrder(cost: LoopCost): Generation[] {
    const continues = ({ prompt }: Generation): boolean =>
      this.#sequences.preview(prompt, cost)?.continues === true;
    const first = this.#jobs.length > 1 ? this.#jobs.filter(continues) : [];
    return [...first, ...this.#jobs.filter((generation) => !first.includes(generation))];
  }

  /** Tokens to evaluate before every waiting job has its first token. */
  #unread(cost: LoopCost): number {
    const rest = ({ prompt }: Generation): number =>
      prompt.length - (this.#sequences.preview(prompt, cost)?.keep ?? 0);
    return this.#jobs.reduce((sum, generation) => sum + rest(generation), 0);
  }
}
