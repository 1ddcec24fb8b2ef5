/**
 * Pads the ends of prompts where rows that are forgotten again cost less than what they spare. A full tile of rows is
 * cheaper than a few rows less. And sequences with windows of their own are evaluated together only as far as they have
 * equally many rows (split_equal in llama-batch): four prompts of four lengths are four passes over the weights. The
 * passes of each candidate are played through, and the cheapest candidate wins. Pure.
 */
import type { Chunk, WaitingPrompt } from './prefill-chunks.ts';
import { PADDING_COSTS, ROW_TILE } from '../../tuning.ts';

export interface PaddedChunk extends Chunk {
  readonly position: number;
  /** Rows evaluated after the chunk and forgotten again. */
  readonly padding: number;
}

export interface PaddingRules {
  /** Rows that one call can have. */
  readonly mostRows: number;
  /** No padding may reach this position; 0 where nothing can be forgotten or padding does not pay. */
  readonly padWithin: number;
  /** What one more row of a prompt costs. */
  readonly rowMs: number;
  /** What one more pass over the weights costs. */
  readonly passMs: number;
  /** Sequences that share their KV cells share every pass, whatever their ids and lengths. */
  readonly sharesCells: boolean;
}

interface Candidate extends PaddedChunk {
  /** The prompt goes on after the chunk. */
  readonly isCut: boolean;
}

/** The same chunks in the same order, with padding where that is cheapest. */
export function padChunks(
  chunks: readonly Chunk[],
  waiting: readonly WaitingPrompt[],
  rules: PaddingRules,
): PaddedChunk[] {
  const unpadded = chunks.map((chunk) => unpaddedCandidate(chunk, waiting));
  const padded = levelsFor(unpadded)
    .map((levels) => unpadded.map((chunk) => paddedTo(chunk, levels)))
    .filter((candidate) => isAllowed(candidate, rules));
  const [best] = [unpadded, ...padded]
    .map((candidate) => ({ candidate, ms: passesMs(candidate, rules) }))
    .sort((a, b) => a.ms - b.ms);
  return (best?.candidate ?? unpadded).map(({ sequence, position, tokens, padding }) => ({
    sequence,
    position,
    tokens,
    padding,
  }));
}

function unpaddedCandidate(chunk: Chunk, waiting: readonly WaitingPrompt[]): Candidate {
  const prompt = waiting.find(({ sequence }) => sequence === chunk.sequence);
  if (prompt === undefined) throw new Error(`sequence ${chunk.sequence} has a chunk but no prompt`);
  return { ...chunk, padding: 0, position: prompt.position, isCut: prompt.remaining > chunk.tokens };
}

/** One or two lengths to pad the chunks to: the longest chunk of a group, or that rounded up to whole tiles. */
function levelsFor(chunks: readonly Candidate[]): number[][] {
  const lengths = chunks.map(({ tokens }) => tokens).sort((a, b) => a - b);
  const levels = (longest: number): number[] => [longest, wholeTiles(longest)];
  const longest = levels(lengths.at(-1) ?? 0);
  const shorter = [...new Set(lengths.slice(0, -1))].flatMap(levels);
  return longest.flatMap((upper) => [[upper], ...shorter.map((lower) => [lower, upper])]);
}

function wholeTiles(rows: number): number {
  return Math.ceil(rows / ROW_TILE) * ROW_TILE;
}

function paddedTo(chunk: Candidate, levels: readonly number[]): Candidate {
  const rows = Math.min(...levels.filter((level) => level >= chunk.tokens));
  return { ...chunk, padding: rows - chunk.tokens };
}

function isAllowed(chunks: readonly Candidate[], { mostRows, padWithin }: PaddingRules): boolean {
  const rows = chunks.reduce((sum, chunk) => sum + rowsOf(chunk), 0);
  const fits = (chunk: Candidate): boolean =>
    chunk.padding === 0 || (!chunk.isCut && chunk.position + rowsOf(chunk) <= padWithin);
  return rows <= mostRows && chunks.every(fits);
}

/** Plays the passes through: each takes the first run of consecutive ids, as many rows as the shortest has left. */
function passesMs(chunks: readonly Candidate[], rules: PaddingRules): number {
  const { rowMs, passMs, sharesCells } = rules;
  if (sharesCells) return onePassMs(chunks, rules);
  const left = new Map(
    chunks.map((chunk) => [chunk.sequence, { rows: rowsOf(chunk), position: chunk.position }]),
  );
  let ms = 0;
  while (left.size > 0) {
    const run = firstRun([...left.keys()]);
    const rows = Math.min(...run.map((id) => left.get(id)?.rows ?? 0));
    ms += passMs + PADDING_COSTS.wastedRows * rowMs;
    for (const id of run) {
      const sequence = left.get(id) ?? { rows, position: 0 };
      ms += rows * rowMs * depthFactor(sequence.position, rows);
      sequence.rows -= rows;
      sequence.position += rows;
      if (sequence.rows === 0) left.delete(id);
    }
  }
  return ms;
}

function onePassMs(chunks: readonly Candidate[], { rowMs, passMs }: PaddingRules): number {
  const total = chunks.reduce((sum, chunk) => sum + rowsOf(chunk), 0);
  const each = chunks.map((chunk) => rowsOf(chunk) * rowMs * depthFactor(chunk.position, total));
  return passMs + each.reduce((sum, ms) => sum + ms, 0);
}

function rowsOf({ tokens, padding }: Candidate): number {
  return tokens + padding;
}

function firstRun(ids: readonly number[]): number[] {
  const ascending = [...ids].sort((a, b) => a - b);
  const first = ascending[0] ?? 0;
  return ascending.filter((id, i) => id === first + i);
}

/** What a row costs at this depth against one at the beginning. */
function depthFactor(position: number, rows: number): number {
  const { tiledRowDoublesAt, singleRowDoublesAt } = PADDING_COSTS;
  return 1 + position / (rows >= ROW_TILE ? tiledRowDoublesAt : singleRowDoublesAt);
}
