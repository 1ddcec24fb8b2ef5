/**
 * Time budget for trials: a small share of the running time. It saves up for a few trials, and one trial may overdraw
 * it.
 */
import { EXPLORING, type SearchLimits } from './limits.ts';

export class Credit {
  readonly #limits: Pick<SearchLimits, 'firstCredit' | 'grantSteps'>;
  #ms: number | null = null;
  #busyMs = 0;
  #stepMs = 0;
  #grantedMs = Number.NEGATIVE_INFINITY;

  constructor(limits: Pick<SearchLimits, 'firstCredit' | 'grantSteps'>) {
    this.#limits = limits;
  }

  get busyMs(): number {
    return this.#busyMs;
  }

  earn(stepMs: number): void {
    this.#busyMs += stepMs;
    this.#stepMs = stepMs;
    const before = this.#ms ?? this.#limits.firstCredit * stepMs;
    const most = Math.max(before, EXPLORING.mostSavedSteps * stepMs);
    this.#ms = Math.min(most, before + EXPLORING.share * stepMs);
  }

  affords(stakeMs: number): boolean {
    return (this.#ms ?? 0) >= stakeMs;
  }

  /**
   * `price`: the share of the loss that counts. The debt is at most a step, so that the next trial comes within
   * seconds.
   */
  pay(lostMs: number, stepMs: number, price = 1): void {
    const mostOwedMs = Math.max(EXPLORING.mostOwedMs, stepMs);
    this.#ms = Math.max((this.#ms ?? 0) - price * Math.max(0, lostMs), -price * mostOwedMs);
  }

  /** Grants one step's time, but rarely enough to stay a negligible share of the time. */
  grant(): void {
    const restMs = Math.max(EXPLORING.grantMs, this.#limits.grantSteps * this.#stepMs);
    if (this.#ms === null || this.#busyMs - this.#grantedMs < restMs) return;
    this.#grantedMs = this.#busyMs;
    this.#ms = Math.max(this.#stepMs, this.#ms);
  }
}
