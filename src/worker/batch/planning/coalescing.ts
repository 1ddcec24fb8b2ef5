/**
 * Coalesces requests that arrive together. The prompts of one burst are prefilled before any of its streams goes on
 * decoding: chunk by chunk between decode steps they take half as long again, and streams that start one after the
 * other also end so, which leaves the last steps with few rows. Pure.
 */
import type { DecodingSequence, PrefillingSequence } from './step-planner.ts';
import { COALESCING_LIMITS } from './tuning.ts';

export interface Pace {
  /** Null until a prefill was measured. */
  readonly msPerToken: number | null;
  readonly nowMs: number;
}

type YoungStream = Pick<DecodingSequence, 'arrivedMs' | 'answerTokens' | 'firstTokenMs'>;
type WaitingPrompt = Pick<PrefillingSequence, 'arrivedMs' | 'remaining'>;

/** Whether this step prefills only. A stream that has sent more than its first token is never stopped. */
export function prefillsFirst(
  streams: readonly YoungStream[],
  prompts: readonly WaitingPrompt[],
  { msPerToken, nowMs }: Pace,
): boolean {
  if (prompts.length === 0 || streams.length === 0 || msPerToken === null) return false;
  if (streams.some(({ answerTokens }) => answerTokens > 1)) return false;
  const arrivals = [...streams, ...prompts].map(({ arrivedMs }) => arrivedMs);
  const isBurst = Math.max(...arrivals) - Math.min(...arrivals) <= COALESCING_LIMITS.arrivalWindowMs;
  const heldMs = nowMs - Math.min(...streams.map(({ firstTokenMs }) => firstTokenMs));
  const remaining = prompts.reduce((sum, prompt) => sum + prompt.remaining, 0);
  return isBurst && heldMs + remaining * msPerToken <= COALESCING_LIMITS.prefillMs;
}

/** How long an idle loop lingers for more requests before it prefills this many tokens; 0 where that would be felt. */
export function lingerMs(promptTokens: number, msPerToken: number | null): number {
  const { lingerShare, lingerLeastMs, lingerMostMs } = COALESCING_LIMITS;
  const share = promptTokens * (msPerToken ?? 0) * lingerShare;
  return share < lingerLeastMs ? 0 : Math.min(share, lingerMostMs);
}
