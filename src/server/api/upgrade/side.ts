import { collectEvents, requireEvent } from '../../engine/collect.ts';
import { checkJob } from '../check/check-job.ts';
import { type Measurement, measureModel, type MeasureOptions, recallFacts } from '../eval/measure.ts';
import { startOwnWorker } from '../own-worker.ts';
import { type Replayed, replayOn, type ReplayOptions, type Bench } from './answers.ts';

export type MeasureWork = Pick<MeasureOptions, 'casesWithinMs' | 'signal' | 'hurry' | 'onProgress'> & {
  /** Texts and cases after this time are left out. */
  readonly withinMs: number;
};

export interface Side {
  measure(work: MeasureWork): Promise<Measurement>;
  replay(work: ReplayOptions): Promise<Replayed>;
  /** Milliseconds for a prompt of these tokens and an answer, the least of several rounds. */
  leastMs(tokens: readonly number[], signal: AbortSignal): Promise<number>;
}

const NEEDLE_TOKENS = 2048;

/** Left out: the user's requests are replayed separately, and an interrupted trial starts again. */
const SHORT = {
  slots: null,
  isShort: true,
  own: { requests: [], left: 0 },
  parts: { part: (_name, _shape, make) => make() },
} satisfies Partial<MeasureOptions>;

export function localSide(bench: Bench): Side {
  const { name, target, worker } = bench;
  return {
    measure: async ({ casesWithinMs, withinMs, signal, hurry: cut, onProgress }) => {
      const isOver = AbortSignal.timeout(withinMs);
      const hurry = cut === undefined ? isOver : AbortSignal.any([isOver, cut]);
      const named = (words: string): void => onProgress(words.replace(target.modelId, name));
      const options = { worker, target, casesWithinMs, signal, hurry, onProgress: named, ...SHORT };
      const measured = await measureModel(options);
      const isLeftOut = casesWithinMs === null || hurry.aborted;
      const needle = isLeftOut ? null : await recallFacts(options, NEEDLE_TOKENS);
      return { ...measured, model: name, needle };
    },
    replay: (work) => replayOn(bench, work),
    leastMs: (tokens, signal) => leastMs(bench, tokens, signal),
  };
}

const PROMPT_TOKENS = 256;
const ANSWER_TOKENS = 32;
const NUM_CTX = 512;
const ROUNDS = 3;

/** A different first token in each round avoids cache hits. */
async function leastMs(
  { worker, target }: Bench,
  tokens: readonly number[],
  signal: AbortSignal,
): Promise<number> {
  const backend = startOwnWorker(worker);
  try {
    const numCtx = Math.min(NUM_CTX, target.trainedCtx);
    const loaded = await backend.load(target, { numCtx, slots: 1, cells: numCtx }, signal);
    const length = Math.min(PROMPT_TOKENS, numCtx - ANSWER_TOKENS - 1);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const prompt = { kind: 'tokens' as const, tokens: tokens.slice(round + 1, round + 1 + length) };
      const job = checkJob(`speed-${round}`, { prompt, maxTokens: ANSWER_TOKENS, ignoresEnd: true });
      const events = await collectEvents((listener) => loaded.run(job, signal, listener));
      const { prefillMs, decodeMs } = requireEvent(events, 'done').timings;
      times.push(prefillMs + decodeMs);
    }
    return Math.min(...times);
  } finally {
    await backend.close();
  }
}
