/**
 * Requests that come within one moment are read together before any of them goes on: in small slices beside the
 * first one their prompts take half as long again, and streams that start one after the other also end so, which
 * leaves the last steps with few rows. Pure.
 */
export interface Arrival {
  /** When its job came, on a monotonic clock. */
  readonly arrivedMs: number;
}

export interface YoungStream extends Arrival {
  /** Tokens said so far. */
  readonly said: number;
  /** When it said its first one. */
  readonly firstTokenMs: number;
}

export interface PromptArrival extends Arrival {
  /** Prompt tokens not yet evaluated. */
  readonly remaining: number;
}

export interface BurstLimits {
  /** Jobs that came no further apart than this belong together. */
  readonly momentMs: number;
  /** No stream waits longer than this for the prompts that came with it, as far as their time is known before. */
  readonly readingMs: number;
  /** The first job waits for others by this share of the time that reading its prompt takes. */
  readonly gatherShare: number;
  readonly gatherLeastMs: number;
  readonly gatherMostMs: number;
  /** After so many waits to which nobody came, none waits until requests overlap again. */
  readonly waitsInVain: number;
}

export const BURST_LIMITS: BurstLimits = {
  momentMs: 150,
  readingMs: 3000,
  gatherShare: 0.03,
  gatherLeastMs: 3,
  gatherMostMs: 25,
  waitsInVain: 2,
};

/**
 * Whether decoding rests for this step, so that the waiting prompts are read first. A stream that has begun to flow is
 * never stopped. `msPerToken`: null when unknown.
 */
export function readsFirst(
  streams: readonly YoungStream[],
  waiting: readonly PromptArrival[],
  { msPerToken, nowMs }: { readonly msPerToken: number | null; readonly nowMs: number },
  limits: BurstLimits = BURST_LIMITS,
): boolean {
  if (waiting.length === 0 || streams.length === 0 || msPerToken === null) return false;
  if (streams.some(({ said }) => said > 1)) return false;
  const arrivals = [...streams, ...waiting].map(({ arrivedMs }) => arrivedMs);
  const together = Math.max(...arrivals) - Math.min(...arrivals) <= limits.momentMs;
  const heldMs = nowMs - Math.min(...streams.map(({ firstTokenMs }) => firstTokenMs));
  const remaining = waiting.reduce((sum, prompt) => sum + prompt.remaining, 0);
  return together && heldMs + remaining * msPerToken <= limits.readingMs;
}

/** How often the waiting looks who has come. */
export const GATHER_LOOK_MS = 5;

/** How long an idle engine waits for company before it reads so many tokens; 0 where that would be felt. */
export function gatherMs(
  tokens: number,
  msPerToken: number | null,
  limits: BurstLimits = BURST_LIMITS,
): number {
  const wait = tokens * (msPerToken ?? 0) * limits.gatherShare;
  return wait < limits.gatherLeastMs ? 0 : Math.min(wait, limits.gatherMostMs);
}
