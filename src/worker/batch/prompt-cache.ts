/**
 * Decides which free sequence a new prompt gets and how much of its KV state can stay. Pure: the batch loop carries
 * the decision out. A sequence's tokens are always exactly those whose state was evaluated to the end, so a prefix
 * of them is never half there.
 */
import { type PlaceCost, placeToTake } from './planning/place-to-take.ts';

export interface CachedSequence {
  readonly id: number;
  readonly tokens: readonly number[];
  readonly busy: boolean;
  /** Steps of the loop; larger is more recent. */
  readonly lastUsed: number;
}

export interface Placement {
  readonly id: number;
  /** Tokens at the beginning of the prompt whose state is reused. */
  readonly keep: number;
  /** Another sequence whose state is copied over first, or null. */
  readonly copyFrom: number | null;
  /** Whether the prompt goes on with most of what the sequence holds. */
  readonly continues: boolean;
  /** Tokens that a copy must spare to be worth it. */
  readonly copyWorthTokens: number;
}

/** A prompt that is being read in another sequence. */
export interface Reading {
  readonly prompt: ArrayLike<number>;
  /** Tokens whose state is there. */
  readonly position: number;
}

export interface PlacementCost extends PlaceCost {
  /** A copy moves a whole sequence's memory, so it must spare at least this many tokens. */
  readonly copyWorthTokens: number;
}

/**
 * 1. The longest common prefix over all sequences, busy ones too, names the source.
 * 2. A free source that the prompt mostly continues is used in place: nothing of value is lost.
 * 3. Otherwise the free sequence that costs least is overwritten, by a copy of the source when that spares enough.
 * Null when every sequence is busy.
 */
export function placePrompt(
  prompt: ArrayLike<number>,
  sequences: readonly CachedSequence[],
  cost: PlacementCost,
): Placement | null {
  const { copyWorthTokens } = cost;
  const free = sequences.filter((sequence) => !sequence.busy);
  if (free.length === 0) return null;
  // The last prompt token is always evaluated, because its logits choose the first token of the answer.
  const usable = prompt.length - 1;
  const prefixes = new Map(
    sequences.map((sequence) => [sequence.id, Math.min(usable, commonPrefix(prompt, sequence.tokens))]),
  );
  const prefixOf = (sequence: CachedSequence): number => prefixes.get(sequence.id) ?? 0;

  const source = [...sequences].sort(
    (a, b) => prefixOf(b) - prefixOf(a) || Number(a.busy) - Number(b.busy),
  )[0];
  const shared = source === undefined ? 0 : prefixOf(source);
  if (source !== undefined && !source.busy && shared > 0 && continues(source, shared)) {
    return { id: source.id, keep: shared, copyFrom: null, continues: true, copyWorthTokens };
  }

  const busy = sequences.filter((sequence) => sequence.busy).map(({ id }) => id);
  const victim = placeToTake(free, busy, prefixOf, cost);
  const own = prefixOf(victim);
  if (source === undefined || source.id === victim.id || shared - own < copyWorthTokens) {
    return { id: victim.id, keep: own, copyFrom: null, continues: false, copyWorthTokens };
  }
  return { id: victim.id, keep: shared, copyFrom: source.id, continues: false, copyWorthTokens };
}

/** Whether a prompt that is being read will soon hold so much more of this one's beginning that a copy of it pays. */
export function worthWaiting(
  prompt: ArrayLike<number>,
  reading: readonly Reading[],
  placement: Placement,
): boolean {
  return reading.some((other) => {
    const shared = Math.min(prompt.length - 1, commonPrefix(prompt, other.prompt));
    return other.position < shared && shared - placement.keep >= placement.copyWorthTokens;
  });
}

/** How many tokens are the same, from a place in each on. */
export function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>, fromA = 0, fromB = 0): number {
  const limit = Math.min(a.length - fromA, b.length - fromB);
  let length = 0;
  while (length < limit && a[fromA + length] === b[fromB + length]) length++;
  return length;
}

/** A re-sent conversation keeps most of what a sequence holds; a mere shared system prompt does not. */
function continues(source: CachedSequence, shared: number): boolean {
  return shared * 2 >= source.tokens.length;
}
