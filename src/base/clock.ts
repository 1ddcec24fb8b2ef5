/** Time as a port, so that decisions can be tested without waiting. Monotonic milliseconds never go back. */
export interface Clock {
  /** Milliseconds since some fixed point; only differences mean anything. */
  monotonicMs(): number;
  /** Unix time in milliseconds, for what people and files read. */
  unixMs(): number;
  /** Calls back once after at least `delayMs`; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  unixMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    // A pending timer must never be the reason that the process stays alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};
