/**
 * Writes idle state to the disk some time after the last answer, or on request; never during the beginning of an
 * answer.
 */
import type { SequenceContent, Tiers } from './tiers.ts';

/**
 * Chosen: most clients that send another request do so within a few seconds; state that waits longer goes to the
 * disk.
 */
const IDLE_SAVE_MS = 5_000;

export class IdleSave {
  readonly #tiers: Tiers | null;
  readonly #idle: () => readonly SequenceContent[];
  #isIdle = true;
  #cancel = (): void => {};

  constructor(tiers: Tiers | null, idle: () => readonly SequenceContent[]) {
    this.#tiers = tiers;
    this.#idle = idle;
  }

  pause(): void {
    this.#isIdle = false;
    this.#cancel();
  }

  resume(): void {
    this.#isIdle = true;
    if (this.#tiers === null) return;
    this.#tiers.quiet.isReading = false;
    const timer = setTimeout(() => void this.save(), IDLE_SAVE_MS);
    timer.unref();
    this.#cancel = () => clearTimeout(timer);
  }

  async save(): Promise<void> {
    this.#cancel();
    await this.#tiers?.save(this.#idle, () => this.#isIdle);
  }
}
