/** Divides prompts into tiles if the bits of their logits must not depend on the division. Pure. */
import { EXACT_TILES, type TileRules } from '../../../contract/settings/exact-rules.ts';

export const tileRules = ({ exact }: { readonly exact?: unknown }): TileRules =>
  exact === undefined ? ANY_TILES : EXACT_TILES;

/** Only the last token is always evaluated, because its logits choose the first one of the answer. */
const ANY_TILES: TileRules = { leastRows: 1, microBatchTokens: Number.POSITIVE_INFINITY };

export function mostReused(promptTokens: number, { leastRows }: TileRules): number {
  return Math.max(0, promptTokens - leastRows);
}

export interface Tile {
  readonly sequence: number;
  readonly tokens: number;
}

/**
 * Parts in which the library computes one call if each sequence has its own window, in ascending order: for a run of
 * neighbouring ids, the same number of tokens of each, until one has none left or the micro-batch is full.
 */
export function computedTiles(call: readonly Tile[], microBatchTokens: number): Tile[] {
  const tiles: Tile[] = [];
  for (let left = [...call]; left.length > 0; ) {
    const [{ sequence: first } = { sequence: 0 }] = left;
    const run = left.filter(({ sequence }, at) => sequence === first + at);
    const most = Math.max(1, Math.floor(microBatchTokens / run.length));
    const each = Math.min(most, ...run.map(({ tokens }) => tokens));
    tiles.push(...run.map(({ sequence }) => ({ sequence, tokens: each })));
    left = left
      .map((part) => (run.includes(part) ? { ...part, tokens: part.tokens - each } : part))
      .filter(({ tokens }) => tokens > 0);
  }
  return tiles;
}

const MOST_CUT = 8;

export interface CallRules extends TileRules {
  /** Logit rows keep their bits next to others, so several prompts may end in one call. */
  readonly endsTogether: boolean;
}

export function tiledCall(
  wanted: readonly Tile[],
  prompts: ReadonlyMap<number, { readonly remaining: number; readonly readsRows?: boolean }>,
  rules: CallRules,
): Tile[] {
  const call: Tile[] = [];
  const isEnd = ({ sequence, tokens }: Tile): boolean => {
    const { remaining = tokens, readsRows = false } = prompts.get(sequence) ?? {};
    return readsRows || remaining === tokens;
  };
  for (const { sequence, tokens } of wanted) {
    const remaining = prompts.get(sequence)?.remaining ?? tokens;
    const mayEnd = rules.endsTogether || !call.some(isEnd);
    const fits = (count: number): boolean =>
      (mayEnd || !isEnd({ sequence, tokens: count })) &&
      leaves(remaining - count, rules) &&
      isTiled([...call, { sequence, tokens: count }], rules);
    const counts = Array.from({ length: MOST_CUT }, (_, cut) => tokens - cut);
    const found = counts.find((count) => count >= rules.leastRows && fits(count));
    if (found !== undefined) call.push({ sequence, tokens: found });
    else if (call.length === 0) call.push({ sequence, tokens: longerTile(remaining, tokens, fits) });
  }
  return call;
}

function longerTile(remaining: number, tokens: number, fits: (count: number) => boolean): number {
  for (let count = tokens + 1; count < remaining; count += 1) if (fits(count)) return count;
  return remaining;
}

const leaves = (left: number, { leastRows }: TileRules): boolean => left === 0 || left >= leastRows;

function isTiled(call: readonly Tile[], { leastRows, microBatchTokens }: TileRules): boolean {
  const ordered = [...call].sort((a, b) => a.sequence - b.sequence);
  return computedTiles(ordered, microBatchTokens).every(({ tokens }) => tokens >= leastRows);
}
