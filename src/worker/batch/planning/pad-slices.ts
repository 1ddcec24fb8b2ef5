/**
 * Pads the ends of prompts where rows that are forgotten again cost less than what they spare. llama.cpp evaluates
 * sequences together only as far as they have equally many rows (split_equal in llama-batch): four prompts of four
 * lengths are four passes over the weights. And a tile of rows is cheaper than a few less: at a depth of 1,500
 * tokens 63 rows take three times as long as 64. The passes of each candidate are played through, and the cheapest is taken. Pure.
 */
import { type PromptWait, ROW_TILE, type Slice } from './row-plan.ts';

export interface PaddedSlice extends Slice {
  /** Rows evaluated behind the slice and forgotten again. */
  readonly padding: number;
}

export interface PadRules {
  /** Rows that one call can have. */
  readonly mostRows: number;
  /** No padding may reach this position; 0 where nothing can be forgotten or padding does not pay. */
  readonly padWithin: number;
  /** What one more row of a prompt costs. */
  readonly rowMs: number;
  /** What one more pass over the weights costs. */
  readonly passMs: number;
}

/** Rows are computed in blocks, and of the last one of a pass half is wasted on average. */
const WASTED_ROWS = 8;

/** Positions behind which a row has to look at as much again as it costs itself, in a tile and outside (measured). */
const DEPTH_OF_TILED_ROW = 900;
const DEPTH_OF_SINGLE_ROW = 230;

/** The same slices in their order, with padding where that is cheapest. */
export function padSlices(
  slices: readonly Slice[],
  waiting: readonly PromptWait[],
  rules: PadRules,
): PaddedSlice[] {
  const asTheyAre = slices.map((slice) => placedOf(slice, waiting));
  const raisedTo = levelsFor(asTheyAre)
    .map((levels) => asTheyAre.map((placed) => raised(placed, levels)))
    .filter((candidate) => isAllowed(candidate, rules));
  const [best] = [asTheyAre, ...raisedTo]
    .map((candidate) => ({ candidate, ms: passesMs(candidate, rules) }))
    .sort((a, b) => a.ms - b.ms);
  return (best?.candidate ?? asTheyAre).map(({ slice }) => slice);
}

interface Placed {
  readonly slice: PaddedSlice;
  readonly rows: number;
  readonly position: number;
  /** Whether the prompt goes on behind the slice. */
  readonly cut: boolean;
}

function placedOf(slice: Slice, waiting: readonly PromptWait[]): Placed {
  const wait = waiting.find(({ sequence }) => sequence === slice.sequence);
  if (wait === undefined) throw new Error(`a slice of sequence ${slice.sequence}, which waits for nothing`);
  return {
    slice: { ...slice, padding: 0 },
    rows: slice.tokens,
    position: wait.position,
    cut: wait.remaining > slice.tokens,
  };
}

/** One or two lengths to raise the slices to: each as long as its longest slice, or on from there to whole tiles. */
function levelsFor(placed: readonly Placed[]): number[][] {
  const lengths = placed.map(({ rows }) => rows).sort((a, b) => a - b);
  const levels = (longest: number): number[] => [longest, wholeTiles(longest)];
  const longest = levels(lengths.at(-1) ?? 0);
  const shorter = [...new Set(lengths.slice(0, -1))].flatMap(levels);
  return longest.flatMap((upper) => [[upper], ...shorter.map((lower) => [lower, upper])]);
}

function wholeTiles(rows: number): number {
  return Math.ceil(rows / ROW_TILE) * ROW_TILE;
}

function raised(placed: Placed, levels: readonly number[]): Placed {
  const rows = Math.min(...levels.filter((level) => level >= placed.rows));
  return { ...placed, rows, slice: { ...placed.slice, padding: rows - placed.slice.tokens } };
}

function isAllowed(padded: readonly Placed[], { mostRows, padWithin }: PadRules): boolean {
  const rows = padded.reduce((sum, slice) => sum + slice.rows, 0);
  const fits = ({ slice, position, rows: length, cut }: Placed): boolean =>
    slice.padding === 0 || (!cut && position + length <= padWithin);
  return rows <= mostRows && padded.every(fits);
}

/** Plays the passes through: each takes the first run of consecutive ids, as many rows as the shortest has left. */
function passesMs(slices: readonly Placed[], { rowMs, passMs }: PadRules): number {
  const left = new Map<number, { rows: number; position: number }>();
  for (const { slice, rows, position } of slices) left.set(slice.sequence, { rows, position });
  let ms = 0;
  while (left.size > 0) {
    const run = firstRun([...left.keys()]);
    const rows = Math.min(...run.map((id) => left.get(id)?.rows ?? 0));
    ms += passMs + WASTED_ROWS * rowMs;
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

function firstRun(ids: readonly number[]): number[] {
  const ascending = [...ids].sort((a, b) => a - b);
  const first = ascending[0] ?? 0;
  return ascending.filter((id, i) => id === first + i);
}

/** What a row costs at this depth against one at the beginning. */
function depthFactor(position: number, rows: number): number {
  return 1 + position / (rows >= ROW_TILE ? DEPTH_OF_TILED_ROW : DEPTH_OF_SINGLE_ROW);
}
