/** How soon the next request of a session comes after an answer, learned from those that came. Pure. */

/** What is known of one session, or of all sessions of a flow together. */
interface Gap {
  /** When its last answer ended; null: a request came since, or the last one did not end well. */
  endedMs: number | null;
  /** Of the gaps so far, milliseconds; 0 before the first. */
  meanMs: number;
  deviationMs: number;
  count: number;
}

const LIMITS = {
  /** Sessions and flows that are remembered; the one that was silent for longest is forgotten. */
  names: 1_024,
  /** How quickly mean and deviation follow, as TCP takes the time of a round trip. */
  meanWeight: 1 / 8,
  deviationWeight: 1 / 4,
  /** A gap is expected to be no longer than the mean and so many deviations. */
  deviations: 4,
} as const;

export class Gaps {
  /** By name, the one that was silent for longest first. */
  readonly #gaps = new Map<string, Gap>();

  get size(): number {
    return this.#gaps.size;
  }

  /** A request of the session has come. */
  arrived(flow: string, session: string, nowMs: number): void {
    const gap = this.#gaps.get(session);
    if (gap === undefined || gap.endedMs === null) return;
    const ms = nowMs - gap.endedMs;
    gap.endedMs = null;
    learn(gap, ms);
    learn(this.#touch(flow), ms);
  }

  /** An answer of the session is over. */
  ended(session: string, nowMs: number): void {
    this.#touch(session).endedMs = nowMs;
  }

  /** How long its next request will take to come at most, milliseconds; null: nobody knows. */
  expectedMs(flow: string, session: string): number | null {
    const own = this.#gaps.get(session);
    const gap = own !== undefined && own.count > 0 ? own : this.#gaps.get(flow);
    return gap === undefined || gap.count === 0 ? null : gap.meanMs + LIMITS.deviations * gap.deviationMs;
  }

  #touch(name: string): Gap {
    const gap = this.#gaps.get(name) ?? { endedMs: null, meanMs: 0, deviationMs: 0, count: 0 };
    this.#gaps.delete(name);
    this.#gaps.set(name, gap);
    for (const oldest of this.#gaps.keys()) {
      if (this.#gaps.size <= LIMITS.names) break;
      this.#gaps.delete(oldest);
    }
    return gap;
  }
}

function learn(gap: Gap, ms: number): void {
  gap.count += 1;
  if (gap.count === 1) {
    gap.meanMs = ms;
    gap.deviationMs = ms / 2;
    return;
  }
  gap.deviationMs += LIMITS.deviationWeight * (Math.abs(ms - gap.meanMs) - gap.deviationMs);
  gap.meanMs += LIMITS.meanWeight * (ms - gap.meanMs);
}
