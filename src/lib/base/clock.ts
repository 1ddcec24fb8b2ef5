/**
 * lib/base owns what any program might need: clock, logger port, event queue, durations, vectors. It knows nothing of
 * models, jobs or HTTP. This file: time as a port, so that tests need not wait.
 */
export interface Clock {
  /** Arbitrary origin; only differences have a meaning. */
  monotonicMs(): number;
  unixMs(): number;
  /** Calls back once after at least `delayMs`, which may be Infinity; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Limit of setTimeout; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  unixMs: () => Date.now(),
  after: (delayMs, callback) => {
    let timer: NodeJS.Timeout | undefined;
    const wait = (leftMs: number): void => {
      const pieceMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > pieceMs ? wait(leftMs - pieceMs) : callback()), pieceMs);
      // A pending timer must not keep the process alive.
      timer.unref();
    };
    if (delayMs !== Infinity) wait(delayMs);
    return () => clearTimeout(timer);
  },
};
