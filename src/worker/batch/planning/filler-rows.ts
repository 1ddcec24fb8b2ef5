/**
 * Passes of a decode step. llama.cpp evaluates sequences in one pass only if their ids are consecutive, so an idle
 * sequence between two decoding ones would split the step in two. A filler row in the idle one, forgotten afterwards,
 * is often cheaper than a second pass over the weights. Pure.
 */
import { ROW_GROUP } from './tuning.ts';

/** What one run of this many rows costs. */
export type StepMs = (rows: number) => number;

/**
 * Idle sequences to fill so that a decode step is cheapest: a gap between two runs of consecutive ids is filled when
 * the joined run costs less than its parts, and a run of three is made four. `decoding` is in ascending order.
 */
export function fillers(
  decoding: readonly number[],
  canFill: (sequence: number) => boolean,
  stepMs: StepMs,
): number[] {
  const filled: number[] = [];
  let run: number[] = [];
  const endRun = (): void => {
    const taken = new Set([...decoding, ...filled]);
    filled.push(...groupFiller(run, (id) => !taken.has(id) && canFill(id), stepMs));
    run = [];
  };
  for (const [i, id] of decoding.entries()) {
    const last = run.at(-1);
    const gap = last === undefined ? [] : range(last + 1, id);
    if (gap.length > 0) {
      const after = runLength(decoding, i);
      const joined = runMs(run.length + gap.length + after, stepMs);
      if (gap.every(canFill) && joined < runMs(run.length, stepMs) + runMs(after, stepMs)) {
        filled.push(...gap);
        run.push(...gap);
      } else {
        endRun();
      }
    }
    run.push(id);
  }
  endRun();
  return filled;
}

/** What a decode step of these sequences costs without fillers: one pass per run of consecutive ids. */
export function decodeMs(sequences: readonly number[], stepMs: StepMs): number {
  const ids = [...sequences].sort((a, b) => a - b);
  const starts = ids.flatMap((id, i) => (i > 0 && ids[i - 1] === id - 1 ? [] : [i]));
  return starts.reduce((sum, start) => sum + runMs(runLength(ids, start), stepMs), 0);
}

function runMs(rows: number, stepMs: StepMs): number {
  return Math.min(stepMs(rows), stepMs(grouped(rows)));
}

/** The neighbour that completes the last group of a run, if it is idle and that pays. */
function groupFiller(
  run: readonly number[],
  canFill: (sequence: number) => boolean,
  stepMs: StepMs,
): number[] {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (stepMs(grouped(run.length)) >= stepMs(run.length)) return [];
  return [last + 1, first - 1].filter(canFill).slice(0, 1);
}

/** With the row that completes a group. Two rows were not cheaper as four, and a single row must be measured as it is. */
function grouped(rows: number): number {
  return rows % ROW_GROUP === ROW_GROUP - 1 ? rows + 1 : rows;
}

function runLength(ids: readonly number[], from: number): number {
  let length = 1;
  while (ids[from + length] === (ids[from] ?? 0) + length) length += 1;
  return length;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
