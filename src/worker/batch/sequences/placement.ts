/**
 * Decides which free sequence a prompt gets and how much of the KV cache it reuses. Pure: sequences.ts carries the
 * decision out. The tokens of a cached sequence are exactly those whose state was evaluated to the end, so a prefix of
 * them is never half there.
 */
import { borderUpTo } from '../../media/rows.ts';
import { commonPrefix } from '../stream/common-prefix.ts';

export interface CachedSequence {
  readonly id: number;
  readonly tokens: readonly number[];
  /** Key of the state, including its LoRA adapters: no other owner may use it. */
  readonly owner: string;
  readonly busy: boolean;
  /** Step of the loop; larger is more recent. */
  readonly lastUsed: number;
}

export interface Placement {
  readonly id: number;
  /** Tokens at the beginning of the prompt whose state is reused. */
  readonly keep: number;
  /** Another sequence whose state is copied over first, or null. */
  readonly copyFrom: number | null;
  /** The prompt continues most of what the sequence holds. */
  readonly continues: boolean;
  /** Least number of tokens that a copy must save. */
  readonly copyWorthTokens: number;
}

/** A prompt that another sequence is prefilling. */
export interface PrefillingPrompt {
  readonly prompt: ArrayLike<number>;
  readonly owner: string;
  /** Tokens whose state is there. */
  readonly position: number;
  /** Place where its whole state is stored on the way; null or absent: nowhere. */
  readonly border?: number | null;
}

interface PlacementRules {
  /** Owner of the prompt, including its LoRA adapters: it cannot use the state of others. */
  readonly owner: string;
  /** A copy moves a whole sequence's memory, so it must save at least this many tokens. */
  readonly copyWorthTokens: number;
  /**
   * Tokens of a prompt whose state may be reused; absent: all but the last, which is always evaluated because its logits
   * choose the first token of the answer.
   */
  mostReused?(promptTokens: number): number;
  /** Tokens left in a free sequence that is cut back to `tokens` of those it holds; absent: exactly these. */
  reach?(sequence: CachedSequence, tokens: number): number;
  /** Tokens whose state would be lost with the sequence, because no tier holds it; absent: all. */
  onlyHere?(sequence: CachedSequence): number;
  /** Only sequences of neighbouring ids share a native call. */
  readonly neighboursShare?: boolean;
}

/** State that a tier also holds is cheap to restore, but not free: it counts for this share. */
const ELSEWHERE_SHARE = 0.1;

/**
 * Chosen: what an answer costs more in calls that it shares with nobody, in tokens of a prompt. Gemma 3 270M decodes four
 * streams at twice the rate when their ids are neighbours (bench/LOG.md, "exact").
 */
const APART_TOKENS = 256;

/**
 * 1. The longest common prefix over all sequences, busy ones included, names the source.
 * 2. A free source that the prompt mostly continues is used in place: nothing of value is lost.
 * 3. Otherwise a free sequence is overwritten, by a copy of the source when that spares enough.
 * Null when every sequence is busy.
 */
export function placePrompt(
  prompt: ArrayLike<number>,
  sequences: readonly CachedSequence[],
  rules: PlacementRules,
): Placement | null {
  const { owner, copyWorthTokens } = rules;
  const free = sequences.filter((sequence) => !sequence.busy);
  if (free.length === 0) return null;
  const usable = rules.mostReused?.(prompt.length) ?? prompt.length - 1;
  const reusable = (sequence: CachedSequence): number => {
    const common = sequence.owner === owner ? Math.min(usable, commonPrefix(prompt, sequence.tokens)) : 0;
    const shared = borderUpTo(prompt, common);
    const isCut = !sequence.busy && shared > 0 && shared < sequence.tokens.length;
    return isCut ? (rules.reach?.(sequence, shared) ?? shared) : shared;
  };
  const prefixes = new Map(sequences.map((sequence) => [sequence.id, reusable(sequence)]));
  const prefixLength = (id: number): number => prefixes.get(id) ?? 0;

  const source = [...sequences].sort(
    (a, b) => prefixLength(b.id) - prefixLength(a.id) || Number(a.busy) - Number(b.busy),
  )[0];
  const shared = source === undefined ? 0 : prefixLength(source.id);
  if (source !== undefined && !source.busy && shared > 0 && continues(source, shared))
    return { id: source.id, keep: shared, copyFrom: null, continues: true, copyWorthTokens };

  const busy = sequences.filter((sequence) => sequence.busy);
  const id = leastWorth(
    free.map((sequence) => ({
      id: sequence.id,
      cachedTokens: worthTokens(sequence.tokens.length, rules.onlyHere?.(sequence)),
      sharedTokens: prefixLength(sequence.id),
      lastUsed: sequence.lastUsed,
      costTokens: rules.neighboursShare === true ? APART_TOKENS * countRuns([...busy, sequence]) : 0,
    })),
  );
  const placement = { id, continues: false, copyWorthTokens };
  if (source === undefined || source.id === id || shared - prefixLength(id) < copyWorthTokens)
    return { ...placement, keep: prefixLength(id), copyFrom: null };

  return { ...placement, keep: shared, copyFrom: source.id };
}

/** Calls in which sequences are evaluated, of which only neighbours share one. */
function countRuns(sequences: readonly CachedSequence[]): number {
  const ids = new Set(sequences.map(({ id }) => id));
  return [...ids].filter((id) => !ids.has(id - 1)).length;
}

/** Value of a sequence's state, in tokens that would have to be evaluated. */
export function worthTokens(tokens: number, onlyHere = tokens): number {
  return onlyHere + ELSEWHERE_SHARE * (tokens - onlyHere);
}

/**
 * Whether another prompt's prefill will soon reach a border that this prompt has as well, where its whole state is kept:
 * memory that cannot be cut is shared there or nowhere.
 */
export function awaitsBorder(
  { prompt, owner }: Pick<PrefillingPrompt, 'prompt' | 'owner'>,
  prefilling: readonly PrefillingPrompt[],
  { keep }: Pick<Placement, 'keep'>,
  leastTokens: number,
): boolean {
  return prefilling.some(({ border = null, position, ...other }) => {
    if (border === null || position >= border || other.owner !== owner) return false;
    return border - keep >= leastTokens && commonPrefix(prompt, other.prompt) >= border;
  });
}

/** Whether another prompt's prefill will soon cover so much more of this prompt that a copy of it pays. */
export function awaitsSharedPrefix(
  { prompt, owner }: Omit<PrefillingPrompt, 'position'>,
  prefilling: readonly PrefillingPrompt[],
  placement: Placement,
  mostReused = (promptTokens: number): number => promptTokens - 1,
): boolean {
  return prefilling.some((other) => {
    if (other.owner !== owner) return false;
    const shared = Math.min(mostReused(prompt.length), commonPrefix(prompt, other.prompt));
    return other.position < shared && shared - placement.keep >= placement.copyWorthTokens;
  });
}

/** A resent conversation keeps most of what a sequence holds; a mere shared system prompt does not. */
function continues(source: CachedSequence, shared: number): boolean {
  return shared * 2 >= source.tokens.length;
}

/**
 * Chooses a free sequence for a prompt that continues none of them: the one whose state is worth least. The more
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
