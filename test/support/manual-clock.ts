/** A clock that stands still until a test moves it; timers fire in order of their time while it moves. */
import type { Clock } from '../../src/lib/base/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #startUnixMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startUnixMs = 1_750_000_000_000) {
    this.#startUnixMs = startUnixMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  unixMs(): number {
    return this.#startUnixMs + this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves time on; after each timer that fires, what waits on it gets its turn. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await turn();
    while (true) {
      const [next] = [...this.#timers].filter((timer) => timer.dueMs <= untilMs).sort(byDueTime);
      if (!next) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
      await turn();
    }
    this.#nowMs = untilMs;
  }
}

const byDueTime = (a: Timer, b: Timer): number => a.dueMs - b.dueMs;

/** Lets promises and I/O callbacks that are due run. */
async function turn(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await new Promise((resolve) => setImmediate(resolve));
}
