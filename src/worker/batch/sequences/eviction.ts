/**
 * Which free sequence a prompt takes when it continues none of them: the one whose state is worth least. The more
 * recently used, the likelier a conversation continues; the longer, the more is prefilled again. Pure.
 */

export interface FreeSequence {
  readonly id: number;
  readonly cachedTokens: number;
  /** Cached tokens that the prompt begins with. */
  readonly sharedTokens: number;
  /** Step of the loop; larger is more recent. */
  readonly lastUsed: number;
  /** Cost of calls that the answer would share with no other, in tokens; absent: none. */
  readonly costTokens?: number;
}

/** At least one is free. */
export function leastWorth(free: readonly FreeSequence[]): number {
  const newestFirst = [...free].sort((a, b) => b.lastUsed - a.lastUsed || a.id - b.id);
  const worths = new Map(newestFirst.map((sequence, rank) => [sequence, sequenceWorth(sequence, rank)]));
  const [least] = [...free].sort(
    (a, b) => (worths.get(a) ?? 0) - (worths.get(b) ?? 0) || a.lastUsed - b.lastUsed || a.id - b.id,
  );
  if (least === undefined) throw new Error('there is no free sequence to choose from');
  return least.id;
}

/** In tokens. State that is only the beginning of the prompt is a gain, not a loss. */
function sequenceWorth({ cachedTokens, sharedTokens, costTokens = 0 }: FreeSequence, rank: number): number {
  const evicted = cachedTokens - sharedTokens;
  return costTokens + (evicted > 0 ? evicted / (1 + rank) : -sharedTokens);
}
