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
export function slicePrompts(waiting: readonly PromptWait[], budget: number, decoding: number): Slice[] {
  const impatient = (wait: PromptWait): number => (wait.passedOver >= PATIENCE_STEPS ? 0 : 1);
  const ranked = [...waiting].sort(
    (a, b) => impatient(a) - impatient(b) || a.remaining - b.remaining || a.sequence - b.sequence,
  );
  const slices: Slice[] = [];
  let left = budget;
  for (const wait of ranked) {
    const tokens = wait.remaining <= left ? wait.remaining : wholeGroups(left, decoding);
    if (tokens <= 0) break;
    slices.push({ sequence: wait.sequence, tokens });
    left -= tokens;
  }
  return slices;
}

/**
 * A cut slice ends on a group of rows. Beside decode rows, llama.cpp evaluates the slice's first token together with
 * them and the rest by itself.
 */
function wholeGroups(tokens: number, decoding: number): number {
  const joined = decoding > 0 ? 1 : 0;
  return Math.floor((tokens - joined) / ROW_GROUP) * ROW_GROUP + joined;
}

/** Rows are computed in groups of four; what is left over costs nearly a full pass per row. */
const ROW_GROUP = 4;

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
  const priceOf = (rows: number): number => Math.min(stepMs(rows), stepMs(grouped(rows)));
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
      const joined = priceOf(run.length + gap.length + after);
      if (gap.every(fillable) && joined < priceOf(run.length) + priceOf(after)) {
        filled.push(...gap);
        run.push(...gap);
      } else endRun();
    }
    run.push(id);
  }
  endRun();
  return filled;
}

/** Neighbours that complete the last group of a run, if they are idle and that pays. */
function padding(
  run: readonly number[],
  usable: (sequence: number) => boolean,
  stepMs: (rows: number) => number,
): number[] {
  const [first, last] = [run[0], run.at(-1)];
  const missing = grouped(run.length) - run.length;
  if (first === undefined || last === undefined || missing === 0) return [];
  if (stepMs(run.length + missing) >= stepMs(run.length)) return [];
  const after = range(last + 1, last + 1 + missing);
  if (after.every(usable)) return after;
  const before = range(first - missing, first);
  return before.every(usable) ? before : [];
}

function grouped(rows: number): number {
  return Math.ceil(rows / ROW_GROUP) * ROW_GROUP;
}

function runLength(ids: readonly number[], from: number): number {
  let length = 1;
  while (ids[from + length] === (ids[from] ?? 0) + length) length++;
  return length;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
