import type { PrefillingSequence } from './step-planner.ts';
import { PATIENCE_STEPS, ROW_GROUP, ROW_TILE } from './tuning.ts';

export interface WaitingPrompt extends Pick<PrefillingSequence, 'sequence' | 'position' | 'remaining'> {
  readonly passedOver: number;
}

export interface Chunk {
  readonly sequence: number;
  readonly tokens: number;
}

export interface ChunkRules {
  readonly budget: number;
  readonly mostRows: number;
  /** Nothing decodes, so the end of a prompt may exceed the budget. */
  readonly idle: boolean;
}

/**
 * Shortest remaining prompt first: that gives the lowest mean time to first token, and two equal prompts lose nothing
 * against round robin, in which both would end late. Lengths count in tiles, so that neighbouring ids of about the
 * same length are adjacent and share their passes. Prompts that were passed over too often go first.
 */
export function inOrder(waiting: readonly WaitingPrompt[]): WaitingPrompt[] {
  const impatience = ({ passedOver }: WaitingPrompt): number =>
    passedOver >= PATIENCE_STEPS ? passedOver : 0;
  const tiles = ({ remaining }: WaitingPrompt): number => Math.ceil(remaining / ROW_TILE);
  return [...waiting].sort(
    (a, b) => impatience(b) - impatience(a) || tiles(a) - tiles(b) || a.sequence - b.sequence,
  );
}

export function chunkPrompts(waiting: readonly WaitingPrompt[], rules: ChunkRules): Chunk[] {
  const chunks: Chunk[] = [];
  let left = rules.budget;
  for (const prompt of inOrder(waiting)) {
    if (left <= 0) break;
    // Less than a tile, left for the next step, would cost a whole pass more.
    const rest = chunks.length === 0 && rules.idle ? Math.min(ROW_TILE - 1, left / 2) : 0;
    const fits = prompt.remaining <= Math.max(left, Math.min(left + rest, rules.mostRows));
    // A part of another prompt would cost a pass now, and one more later.
    if (!fits && chunks.length > 0) break;
    const tokens = fits ? prompt.remaining : wholeRows(left);
    chunks.push({ sequence: prompt.sequence, tokens });
    left -= tokens;
  }
  return chunks;
}

/** A chunk inside its prompt ends on a tile of rows, or at least on a group. */
function wholeRows(rows: number): number {
  const unit = rows >= ROW_TILE ? ROW_TILE : ROW_GROUP;
  return Math.floor(rows / unit) * unit;
}
