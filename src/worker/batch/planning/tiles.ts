/** How a prompt is divided into tiles where its bits must not depend on that (contract/settings/exact-rules.ts). Pure. */
import type { TileRules } from '../../../contract/settings/exact-rules.ts';

/** Any division will do; only the last token is always evaluated, because its logits choose the first one of the answer. */
export const ANY_TILES: TileRules = { leastRows: 1, border: 1, microBatchTokens: Number.POSITIVE_INFINITY };

/** Tokens at the beginning of a prompt whose state may come from the cache. */
export function mostReused(promptTokens: number, { leastRows, border }: TileRules): number {
  return Math.max(0, Math.floor((promptTokens - leastRows) / border) * border);
}

export interface PromptRest {
  readonly position: number;
  readonly remaining: number;
}

/** Tokens of the next call: `wanted`, or as few more or less as the rules ask for. */
export function tileTokens(rest: PromptRest, wanted: number, rules: TileRules): number {
  const most = Math.min(wanted, rest.remaining);
  for (let tokens = most; tokens > 0; tokens -= 1) if (isAllowed(rest, tokens, rules)) return tokens;
  for (let tokens = most + 1; tokens < rest.remaining; tokens += 1)
    if (isAllowed(rest, tokens, rules)) return tokens;
  return rest.remaining;
}

function isAllowed({ position, remaining }: PromptRest, tokens: number, rules: TileRules): boolean {
  const { leastRows, border, microBatchTokens } = rules;
  const left = remaining - tokens;
  if (left > 0 && (left < leastRows || (position + tokens) % border !== 0)) return false;
  // The library divides a call itself, and its last part is a tile as well.
  const last = tokens % microBatchTokens;
  return last === 0 || last >= Math.min(leastRows, remaining);
}
