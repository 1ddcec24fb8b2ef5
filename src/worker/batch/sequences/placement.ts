/**
 * Decides which free sequence a prompt gets and how much of the KV cache it reuses. Pure. The tokens of a cached
 * sequence are exactly those whose state was evaluated completely, so every prefix of them is usable.
 */
import { borderUpTo } from '../../media/rows.ts';
import { commonPrefix } from '../stream/common-prefix.ts';

export interface CachedSequence {
  readonly id: number;
  readonly tokens: readonly number[];
  /** Key of the state, including its LoRA adapters: no other owner may use it. */
  readonly owner: string;
  readonly busy: boolean;
  readonly lastUsed: number;
}

export interface Placement {
  readonly id: number;
  readonly keep: number;
  readonly copyFrom: number | null;
  readonly continues: boolean;
  readonly copyWorthTokens: number;
}

export interface PrefillingPrompt {
  readonly prompt: ArrayLike<number>;
  readonly owner: string;
  readonly position: number;
  /** Position at which its whole state is stored on the way; null or absent: none. */
  readonly border?: number | null;
}

interface PlacementRules {
  readonly owner: string;
  /** A copy moves a whole sequence's memory, so it must save at least this many tokens. */
  readonly copyWorthTokens: number;
  /** Reusable tokens of a prompt; default: all but the last, whose logits choose the first token of the answer. */
  mostReused?(promptTokens: number): number;
  /** Tokens left after a free sequence is cut back to `tokens`; default: exactly these. */
  reach?(sequence: CachedSequence, tokens: number): number;
  /** Tokens whose state is in no tier, so that it would be lost with the sequence; default: all. */
  onlyHere?(sequence: CachedSequence): number;
  readonly neighboursShare?: boolean;
}

/** State that a tier also holds is cheap to restore, but not free: it counts for this share. */
const ELSEWHERE_SHARE = 0.1;

/**
 * Chosen: extra cost of an answer whose calls no other shares, in tokens of a prompt. Gemma 3 270M decodes four
 * streams at twice the rate if their ids are neighbours (bench/LOG.md, "exact").
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

function countRuns(sequences: readonly CachedSequence[]): number {
  const ids = new Set(sequences.map(({ id }) => id));
  return [...ids].filter((id) => !ids.has(id - 1)).length;
}

export function worthTokens(tokens: number, onlyHere = tokens): number {
  return onlyHere + ELSEWHERE_SHARE * (tokens - onlyHere);
}

/**
 * Whether another prompt's prefill will soon reach a border that this prompt shares, where its whole state is stored:
 * memory that cannot be cut is shared only there.
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

/** A resent conversation keeps most of a sequence's tokens; a mere shared system prompt does not. */
function continues(source: CachedSequence, shared: number): boolean {
  return shared * 2 >= source.tokens.length;
}

/**
 * A free sequence for a prompt that continues none of them: the one whose state is worth least. The more recently
 * used, the likelier a conversation continues; the longer, the more is prefilled again. Pure.
 */
export interface FreeSequence {
  readonly id: number;
  readonly cachedTokens: number;
  readonly sharedTokens: number;
  readonly lastUsed: number;
  readonly costTokens?: number;
}

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
