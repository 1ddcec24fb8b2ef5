/**
 * Bursts: requests that arrive together also begin together. A stream that began first would wait for the prompts of
 * the others, slice by slice; so the slices of a burst are ordered for the last one to end all prompts. chunk-size.ts
 * decides the size of a slice. Pure.
 */
import type { Chunk, ChunkRules, WaitingPrompt } from './prefill-chunks.ts';
import type { DecodingSequence } from './step-planner.ts';
import { BURST_LIMITS, ROW_TILE } from './tuning.ts';

interface Pace {
  readonly msPerToken: number | null;
  readonly nowMs: number;
}

type YoungStream = Pick<DecodingSequence, 'firstTokenMs'>;
type BurstPrompt = WaitingPrompt & { readonly arrivedMs: number };

/**
 * The prompts that end together, at least two; empty if older streams decode. Long prompts do not take part: short
 * ones go first and run next to them.
 */
export function burst<Prompt extends BurstPrompt>(
  streams: readonly YoungStream[],
  prompts: readonly Prompt[],
  { msPerToken, nowMs }: Pace,
): Prompt[] {
  const { arrivalWindowMs, promptMs, burstMs } = BURST_LIMITS;
  if (msPerToken === null || prompts.length === 0) return [];
  const firstTokenMs = Math.min(...streams.map((stream) => stream.firstTokenMs));
  const short = prompts
    .filter(
      ({ remaining, arrivedMs }) =>
        remaining * msPerToken <= promptMs && arrivedMs <= firstTokenMs + arrivalWindowMs,
    )
    .sort((a, b) => a.remaining - b.remaining);
  const begunMs = Math.min(...short.map(({ arrivedMs }) => arrivedMs));
  const members: Prompt[] = [];
  let endMs = nowMs;
  for (const prompt of short) {
    endMs += prompt.remaining * msPerToken;
    if (endMs - begunMs > burstMs) break;
    members.push(prompt);
  }
  // A stream that has been decoding for long is not part of this burst, whenever it arrived.
  return nowMs - firstTokenMs > burstMs || members.length < 2 ? [] : members;
}

export function chunkBurst(
  members: readonly WaitingPrompt[],
  { budget, mostRows, idle }: ChunkRules,
): Chunk[] {
  const total = members.reduce((sum, { remaining }) => sum + remaining, 0);
  const rest = idle ? Math.min(ROW_TILE - 1, budget / 2) : 0;
  const most = Math.max(budget, Math.min(mostRows, budget + rest));
  if (total <= most) return members.map(({ sequence, remaining }) => ({ sequence, tokens: remaining }));
  const end = Math.max(1, Math.floor(budget / members.length));
  let left = Math.min(budget, Math.max(0, total - members.length));
  const chunks: Chunk[] = [];
  for (const { sequence, remaining } of [...members].sort((a, b) => b.remaining - a.remaining)) {
    const tokens = Math.min(left, Math.max(0, remaining - end));
    if (tokens > 0) chunks.push({ sequence, tokens });
    left -= tokens;
  }
  if (chunks.length > 0) return chunks;
  // More members than rows: they cannot end together.
  return members.slice(0, budget).map(({ sequence, remaining }) => ({ sequence, tokens: remaining }));
}
