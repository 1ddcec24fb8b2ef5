/**
 * server/api/access owns what a named API key may do while requests run. It knows nothing of HTTP, nor of how keys are kept.
 * This file: the daily token budget of keys. Tokens are reserved before a request begins and the rest is returned, so
 * that concurrent requests cannot exceed it. The day is that of UTC.
 */
import type { KeyUsage } from '../../../store/keys/usage-file.ts';

export interface Reservation {
  readonly tokens: number;
  resize(tokens: number): boolean;
  /** Counts the used tokens and returns the rest. A second call has no effect. */
  settle(used: number): void;
}

const DAY_MS = 86_400_000;

export class TokenBudget {
  readonly #nowMs: () => number;
  #day: string;
  readonly #used = new Map<string, number>();
  readonly #reserved = new Map<string, number>();

  constructor(nowMs: () => number, kept: KeyUsage | null) {
    this.#nowMs = nowMs;
    this.#day = this.#today();
    if (kept?.day !== this.#day) return;
    for (const [name, tokens] of Object.entries(kept.tokens)) this.#used.set(name, tokens);
  }

  get usage(): KeyUsage {
    this.#turnDay();
    return { schema: 1, day: this.#day, tokens: Object.fromEntries(this.#used) };
  }

  used(name: string): number {
    this.#turnDay();
    return this.#used.get(name) ?? 0;
  }

  left(name: string, limit: number): number {
    return Math.max(0, limit - this.used(name) - (this.#reserved.get(name) ?? 0));
  }

  get nextDayMs(): number {
    return DAY_MS - (this.#nowMs() % DAY_MS);
  }

  reserve(name: string, limit: number, tokens: number): Reservation {
    let held = Math.min(tokens, this.left(name, limit));
    this.#hold(name, held);
    const resize = (to: number): boolean => {
      if (to - held > this.left(name, limit)) return false;
      this.#hold(name, to - held);
      held = to;
      return true;
    };
    let isOpen = true;
    return {
      get tokens() {
        return held;
      },
      resize,
      settle: (used) => {
        if (!isOpen) return;
        isOpen = false;
        resize(0);
        this.#used.set(name, this.used(name) + used);
      },
    };
  }

  #hold(name: string, tokens: number): void {
    this.#reserved.set(name, (this.#reserved.get(name) ?? 0) + tokens);
  }

  #turnDay(): void {
    const today = this.#today();
    if (today === this.#day) return;
    this.#day = today;
    this.#used.clear();
  }

  #today(): string {
    return new Date(this.#nowMs()).toISOString().slice(0, 10);
  }
}
