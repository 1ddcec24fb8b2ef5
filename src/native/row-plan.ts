/**
 * What one step evaluates: one token of each decoding sequence, slices of waiting prompts within a budget, and
 * fillers. llama.cpp puts sequences into one micro-batch only if their ids are consecutive, so an idle sequence
 * between two decoding ones would split the step in two; a filler row in the idle one, forgotten afterwards, is
 * often cheaper than a second pass over the weights. Pure.
 */
export interface PromptWait {
  readonly sequence: number;
  /** Prompt tokens not yet evaluated. */
  readonly remaining: number;
  /** Steps in which others were preferred. */
  readonly passedOver: number;
}

export interface Slice {
  readonly sequence: number;
  readonly tokens: number;
}

/** After this many steps of waiting a prompt goes first, so that a stream of short prompts starves no long one. */
const PATIENCE_STEPS = 8;

/**
 * The shortest remaining prompt goes first: that gives the lowest mean time to the first token, and two equal ones
 * lose nothing against turns, in which both would end late.
 */
export function slicePrompts(waiting: readonly PromptWait[], budget: number): Slice[] {
  const impatient = (wait: PromptWait): number => (wait.passedOver >= PATIENCE_STEPS ? 0 : 1);
  const ranked = [...waiting].sort(
    (a, b) => impatient(a) - impatient(b) || a.remaining - b.remaining || a.sequence - b.sequence,
  );
  const slices: Slice[] = [];
  let left = budget;
  for (const wait of ranked) {
    const tokens = Math.min(wait.remaining, left);
    if (tokens <= 0) break;
    slices.push({ sequence: wait.sequence, tokens });
    left -= tokens;
  }
  return slices;
}

/**
 * Idle sequences to fill so that the rows of a plain decode step form fewer runs. `stepMs(rows)` is the time of one
 * run of that many rows; a gap is filled when the joined run is cheaper than its two parts.
 */
export function fillGaps(
  decoding: readonly number[],
  fillable: (sequence: number) => boolean,
  stepMs: (rows: number) => number,
): number[] {
  const fillers: number[] = [];
  let runStart = decoding[0] ?? 0;
  for (let i = 1; i < decoding.length; i++) {
    const previous = decoding[i - 1] ?? 0;
    const current = decoding[i] ?? 0;
    const gap = range(previous + 1, current);
    if (gap.length === 0) continue;
    const before = previous - runStart + 1;
    const after = runLength(decoding, i);
    const joined = stepMs(before + gap.length + after);
    if (gap.every(fillable) && joined < stepMs(before) + stepMs(after)) fillers.push(...gap);
    else runStart = current;
  }
  return fillers;
}

function runLength(ids: readonly number[], from: number): number {
  let length = 1;
  while (ids[from + length] === (ids[from] ?? 0) + length) length++;
  return length;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
