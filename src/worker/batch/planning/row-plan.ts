/**
 * What one step evaluates: one token of each decoding sequence with fillers, and slices of waiting prompts within a
 * budget. llama.cpp puts sequences into one micro-batch only if their ids are consecutive, so an idle sequence
 * between two decoding ones would split the decode rows in two; a filler row in the idle one, forgotten afterwards, is
 * often cheaper than a second pass over the weights. Pure.
 */
export interface PromptWait {
  readonly sequence: number;
  /** Prompt tokens whose state is there. */
  readonly position: number;
  /** Prompt tokens not yet evaluated. */
  readonly remaining: number;
  /** Steps in which others were preferred. */
  readonly passedOver: number;
}

export interface Slice {
  readonly sequence: number;
  readonly tokens: number;
}

export interface SliceRules {
  /** Tokens that all slices together may have. */
  readonly budget: number;
  /** Rows that one call can have. */
  readonly mostRows: number;
  /** Whether nothing decodes beside them, so that an end may go beyond the budget. */
  readonly idle: boolean;
}

/** After this many steps of waiting a prompt goes first, so that a stream of short prompts starves no long one. */
const PATIENCE_STEPS = 8;

/** Rows are computed in groups of four; what is left over costs nearly a full pass per row. */
const ROW_GROUP = 4;

/**
 * From this many rows of a sequence on, llama.cpp reads its KV cache once per tile of rows instead of once per row
 * (GGML_FA_TILE_Q in ggml-cpu).
 */
export const ROW_TILE = 64;

/**
 * The shortest remaining prompt goes first: that gives the lowest mean time to the first token, and two equal ones
 * lose nothing against turns, in which both would end late. Lengths count in tiles, so that neighbours of about the
 * same length come together and share their passes. Among those that were passed over too often, the one that
 * was so most often goes first, or a long one would wait for ever behind short ones that are as impatient.
 */
export function slicePrompts(waiting: readonly PromptWait[], rules: SliceRules): Slice[] {
  const impatience = ({ passedOver }: PromptWait): number => (passedOver >= PATIENCE_STEPS ? passedOver : 0);
  const tiles = ({ remaining }: PromptWait): number => Math.ceil(remaining / ROW_TILE);
  const ranked = [...waiting].sort(
    (a, b) => impatience(b) - impatience(a) || tiles(a) - tiles(b) || a.sequence - b.sequence,
  );
  const slices: Slice[] = [];
  let left = rules.budget;
  for (const wait of ranked) {
    if (left <= 0) break;
    // An end of less than a tile, left for a step of its own, would cost a whole pass more.
    const end = slices.length === 0 && rules.idle ? Math.min(ROW_TILE - 1, left / 2) : 0;
    const fits = wait.remaining <= Math.max(left, Math.min(left + end, rules.mostRows));
    // A part of another prompt would be a pass of its own now, and one more later.
    if (!fits && slices.length > 0) break;
    const tokens = fits ? wait.remaining : whole(left);
    slices.push({ sequence: wait.sequence, tokens });
    left -= tokens;
  }
  return slices;
}

/** A cut slice ends on a tile of rows, or at least on a group. */
function whole(rows: number): number {
  const unit = rows >= ROW_TILE ? ROW_TILE : ROW_GROUP;
  return Math.floor(rows / unit) * unit;
}

/**
 * Idle sequences to fill so that a plain decode step is cheapest: a gap between two runs of consecutive ids is filled
 * when the joined run costs less than its parts, and a run of three is made four, which is cheaper (measured).
 * `stepMs(rows)` is the time of one run of that many rows.
 */
export function fillers(
  decoding: readonly number[],
  fillable: (sequence: number) => boolean,
  stepMs: (rows: number) => number,
): number[] {
  const filled: number[] = [];
  let run: number[] = [];
  const endRun = (): void => {
    const taken = new Set([...decoding, ...filled]);
    filled.push(...padding(run, (id) => !taken.has(id) && fillable(id), stepMs));
    run = [];
  };
  for (const [i, id] of decoding.entries()) {
    const last = run.at(-1);
    const gap = last === undefined ? [] : range(last + 1, id);
    if (gap.length > 0) {
      const after = runLength(decoding, i);
      const joined = runMs(run.length + gap.length + after, stepMs);
      if (gap.every(fillable) && joined < runMs(run.length, stepMs) + runMs(after, stepMs)) {
        filled.push(...gap);
        run.push(...gap);
      } else endRun();
    }
    run.push(id);
  }
  endRun();
  return filled;
}

/** What a decode step of these sequences costs when no idle one helps: one run of rows per run of consecutive ids. */
export function decodeMs(sequences: readonly number[], stepMs: (rows: number) => number): number {
  const ids = [...sequences].sort((a, b) => a - b);
  const starts = ids.flatMap((id, i) => (i > 0 && ids[i - 1] === id - 1 ? [] : [i]));
  return starts.reduce((sum, start) => sum + runMs(runLength(ids, start), stepMs), 0);
}

function runMs(rows: number, stepMs: (rows: number) => number): number {
  return Math.min(stepMs(rows), stepMs(grouped(rows)));
}

/** The neighbour that completes the last group of a run, if one is idle and that pays. */
function padding(
  run: readonly number[],
  usable: (sequence: number) => boolean,
  stepMs: (rows: number) => number,
): number[] {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (stepMs(grouped(run.length)) >= stepMs(run.length)) return [];
  return [last + 1, first - 1].filter(usable).slice(0, 1);
}

/** With the row that completes a group; two rows were not cheaper as four, and a lone one must be seen as it is. */
function grouped(rows: number): number {
  return rows % ROW_GROUP === ROW_GROUP - 1 ? rows + 1 : rows;
}

function runLength(ids: readonly number[], from: number): number {
  let length = 1;
  while (ids[from + length] === (ids[from] ?? 0) + length) length++;
  return length;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
