/**
 * Time budget of trials: a small share of the time that steps take, saved up for a few of them, or owed by the last one.
 */
import { EXPLORING, type SearchLimits } from './limits.ts';

export class Credit {
  readonly #limits: Pick<SearchLimits, 'firstCredit' | 'grantSteps'>;
  /** Null before the first step. */
  #ms: number | null = null;
  #busyMs = 0;
  /** Of the last step. */
  #stepMs = 0;
  #grantedMs = Number.NEGATIVE_INFINITY;

  constructor(limits: Pick<SearchLimits, 'firstCredit' | 'grantSteps'>) {
    this.#limits = limits;
  }

  /** Time of all steps; idle time does not count. */
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

  /** `price`: of what was lost, the part that counts. Never more than a step is owed: the next trial must come within seconds. */
  pay(lostMs: number, stepMs: number, price = 1): void {
    const mostOwedMs = Math.max(EXPLORING.mostOwedMs, stepMs);
    this.#ms = Math.max((this.#ms ?? 0) - price * Math.max(0, lostMs), -price * mostOwedMs);
  }

  /** As much as one step, but not so often that this becomes a relevant share of the time. */
  grant(): void {
    const restMs = Math.max(EXPLORING.grantMs, this.#limits.grantSteps * this.#stepMs);
    if (this.#ms === null || this.#busyMs - this.#grantedMs < restMs) return;
    this.#grantedMs = this.#busyMs;
    this.#ms = Math.max(this.#stepMs, this.#ms);
  }
}
