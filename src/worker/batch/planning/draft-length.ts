/**
 * How many draft tokens each decoding sequence gets in one step. A few more rows in a pass over the weights cost much
 * less than a pass by themselves, so drafts pay where enough of them are accepted. All sequences get equally many rows,
 * because llama.cpp makes one pass per length; where a sequence has no draft, its rows are padding. Pure.
 */
import type { DecodingSequence } from './step-planner.ts';
import { DRAFT_LIMITS } from './tuning.ts';

type DraftingStream = Pick<DecodingSequence, 'draftTokens' | 'draftHitRate' | 'draftMsPerToken'>;

export interface DraftPrices {
  /** What the step costs without drafts. */
  readonly plainMs: number;
  /** What one more row of one sequence costs. */
  readonly extraRowMs: number;
}

/** The draft length with the most expected tokens per millisecond, `most` at best; 0 where none pays. */
export function draftLength(streams: readonly DraftingStream[], prices: DraftPrices, most: number): number {
  const { mostRows, leastGain, mostLoss } = DRAFT_LIMITS;
  const fitting = Math.floor(mostRows / Math.max(1, streams.length)) - 1;
  const plain = streams.length / prices.plainMs;
  let best = { length: 0, tokensPerMs: plain * leastGain };
  for (let length = 1; length <= Math.min(most, fitting); length += 1) {
    const drafting = streams.reduce((sum, stream) => sum + draftingMs(stream, length), 0);
    const ms = prices.plainMs + prices.extraRowMs * length * streams.length + drafting;
    const expected = streams.map((stream) => expectedTokens(stream, length));
    const tokensPerMs = expected.reduce((sum, tokens) => sum + tokens, 0) / ms;
    const slowest = (Math.min(...expected) * prices.plainMs) / ms;
    if (slowest >= 1 - mostLoss && tokensPerMs > best.tokensPerMs) best = { length, tokensPerMs };
  }
  return best.length;
}

/** The sampled token, and each draft token that is accepted after accepted ones. */
function expectedTokens({ draftTokens, draftHitRate }: DraftingStream, length: number): number {
  const rate = Math.min(draftHitRate, DRAFT_LIMITS.mostHitRate);
  return (1 - rate ** (Math.min(draftTokens, length) + 1)) / (1 - rate);
}

/** What a drafting model takes for it. */
function draftingMs({ draftTokens, draftMsPerToken = 0 }: DraftingStream, length: number): number {
  return Math.min(draftTokens, length) * draftMsPerToken;
}
