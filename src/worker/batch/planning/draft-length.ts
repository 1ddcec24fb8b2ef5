/**
 * How many guessed tokens each decoding sequence gets in one step. A few more rows in a pass over the weights cost much
 * less than a pass of their own, so guesses pay where enough of them are right. All sequences get the same number of
 * rows, because llama.cpp makes a pass of each length; what one cannot guess is padding. Pure.
 */
export interface DraftStream {
  /** Tokens that can be guessed, at most; 0 when nothing is known to follow. */
  readonly guessable: number;
  /** The share of guesses that were right lately. */
  readonly hitRate: number;
}

export interface DraftPrices {
  /** What the step costs without guesses. */
  readonly plainMs: number;
  /** What one more row of one sequence costs. */
  readonly rowMs: number;
}

/** Above this the logits of a step take tens of megabytes, and a pass is no longer bound by reading the weights. */
const MOST_ROWS = 32;

/** Guesses that gain less are not worth the sampler's waiting. */
const LEAST_GAIN = 1.05;

/** A stream that guesses nothing is not slowed by more than this for those that do. */
const MOST_LOSS = 0.15;

/** Nothing is so sure that sixteen tokens in a row could be relied on. */
const MOST_HIT_RATE = 0.97;

/** Guessed tokens per sequence; 0: none. `most` is the limit of the settings and of what follows. */
export function draftLength(streams: readonly DraftStream[], prices: DraftPrices, most: number): number {
  const roomy = Math.floor(MOST_ROWS / Math.max(1, streams.length)) - 1;
  const plain = streams.length / prices.plainMs;
  let best = { length: 0, tokensPerMs: plain * LEAST_GAIN };
  for (let length = 1; length <= Math.min(most, roomy); length++) {
    const ms = prices.plainMs + prices.rowMs * length * streams.length;
    const expected = streams.map((stream) => expectedTokens(stream, length));
    const tokensPerMs = expected.reduce((sum, tokens) => sum + tokens, 0) / ms;
    const slowest = (Math.min(...expected) * prices.plainMs) / ms;
    if (slowest >= 1 - MOST_LOSS && tokensPerMs > best.tokensPerMs) best = { length, tokensPerMs };
  }
  return best.length;
}

/** The sampled one, and each guess that is right after right ones. */
function expectedTokens({ guessable, hitRate }: DraftStream, length: number): number {
  const rate = Math.min(hitRate, MOST_HIT_RATE);
  return (1 - rate ** (Math.min(guessable, length) + 1)) / (1 - rate);
}
