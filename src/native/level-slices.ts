/**
 * Pads slices of several prompts to few different lengths. llama.cpp evaluates sequences together only as far as they
 * have equally many rows (split_equal in llama-batch): eight prompts of eight lengths are eight passes over the
 * weights, and a few rows that are forgotten again cost less than a pass. Pure.
 */
import { type PromptWait, ROW_TILE, type Slice, WORTH_A_TILE } from './row-plan.ts';

export interface LevelRules {
  /** Rows that all slices together may have. */
  readonly rows: number;
  /** No padding may reach this position; 0 where nothing can be forgotten. */
  readonly padWithin: number;
  /** What one more row of a prompt costs; null when it is not known. */
  readonly rowMs: number | null;
  /** What one more pass over the weights costs. */
  readonly passMs: number;
}

/** The same slices, with more padding where that is cheapest; unchanged where it does not fit. */
export function levelSlices(
  slices: readonly Slice[],
  waiting: readonly PromptWait[],
  rules: LevelRules,
): readonly Slice[] {
  if (rules.rowMs === null || slices.length < 2) return slices;
  const lengths = slices.map(lengthOf).sort((a, b) => a - b);
  const levels = cheapestLevels(lengths, rules.rowMs, rules.passMs);
  const levelled = slices.map((slice) => {
    const level = levels.find((candidate) => candidate >= lengthOf(slice)) ?? lengthOf(slice);
    return { ...slice, padding: level - slice.tokens };
  });
  const pays = levelled.every(
    (slice, i) => slice.padding === slices[i]?.padding || fits(slice, waiting, rules),
  );
  return pays && total(levelled) <= rules.rows ? levelled : slices;
}

function lengthOf({ tokens, padding }: Slice): number {
  return tokens + padding;
}

function total(slices: readonly Slice[]): number {
  return slices.reduce((sum, slice) => sum + lengthOf(slice), 0);
}

/** Deep in a context rows below a tile cost several times as much as `rowMs` says. */
function fits(slice: Slice, waiting: readonly PromptWait[], { padWithin }: LevelRules): boolean {
  const position = waiting.find(({ sequence }) => sequence === slice.sequence)?.position ?? 0;
  const dear = position > WORTH_A_TILE.deepFrom && lengthOf(slice) < ROW_TILE;
  return !dear && position + lengthOf(slice) <= padWithin;
}

/** Splits ascending lengths into runs that are raised to their last; the least sum of padding and passes. */
function cheapestLevels(lengths: readonly number[], rowMs: number, passMs: number): number[] {
  const best: { ms: number; levels: number[] }[] = [{ ms: 0, levels: [] }];
  for (let end = 1; end <= lengths.length; end++) {
    const level = lengths[end - 1] ?? 0;
    let paddingMs = 0;
    for (let start = end - 1; start >= 0; start--) {
      paddingMs += (level - (lengths[start] ?? 0)) * rowMs;
      const before = best[start] ?? { ms: 0, levels: [] };
      const ms = before.ms + passMs + paddingMs;
      if (ms < (best[end]?.ms ?? Number.POSITIVE_INFINITY)) {
        best[end] = { ms, levels: [...before.levels, level] };
      }
    }
  }
  return best[lengths.length]?.levels ?? [];
}
