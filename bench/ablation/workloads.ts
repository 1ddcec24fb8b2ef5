/** Short workloads in which one mechanism should win, beside those of the planner's races. */
import { setTimeout } from 'node:timers/promises';
import { type Figures, median, sum } from '../statistics.ts';
import { text } from '../words.ts';
import { figures, times, type Workload, workloads as raced } from '../planner/workloads.ts';
import type { RacedWorker, StreamMeasure } from '../planner/raced-worker.ts';

const SAMPLED = 1;

const deep: Workload = {
  name: 'deep',
  describe: 'each stream answers 96 tokens after a prompt of 1,800',
  run: async (worker, streams, seed) => {
    const all = await Promise.all(
      times(streams, (at) =>
        worker.answer(worker.textOf(1_800, seed * 100 + at), { maxTokens: 96, temperature: SAMPLED }),
      ),
    );
    const decoding = all.map(({ tokens, gapsMs }) => (1000 * (tokens - 1)) / sum(gapsMs));
    return {
      'decode tok/s': median(decoding),
      'gap max ms': Math.max(...all.flatMap(({ gapsMs }) => gapsMs)),
    };
  },
};

const deepTurns: Workload = {
  name: 'deep-turns',
  describe: 'six turns of 24 new tokens after a prompt of 1,800; the time to each first token',
  run: async (worker, streams, seed) => {
    const firsts = await Promise.all(
      times(streams, async (at) => {
        let history = worker.textOf(1_800, seed * 100 + at);
        await worker.answer(history, { maxTokens: 1, temperature: SAMPLED });
        const found: number[] = [];
        for (let turn = 0; turn < 6; turn += 1) {
          history += ` ${worker.textOf(24, seed * 100 + 10 * at + turn + 1)}`;
          found.push((await worker.answer(history, { maxTokens: 1, temperature: SAMPLED })).firstTokenMs);
        }
        return found;
      }),
    );
    return { 'first token p50 ms': median(firsts.flat()) };
  },
};

const besideIdle: Workload = {
  name: 'beside-idle',
  describe: 'one stream of 64 tokens while three conversations of 900 tokens are idle',
  run: async (worker, _streams, seed) => {
    for (const at of [1, 2, 3])
      await worker.answer(worker.textOf(900, seed * 100 + at), { maxTokens: 1, temperature: SAMPLED });
    // Idle state is counted in the pause after an answer.
    await setTimeout(100);
    const all = [
      await worker.answer(worker.textOf(40, seed * 100 + 9), { maxTokens: 64, temperature: SAMPLED }),
      await worker.answer(worker.textOf(40, seed * 100 + 10), { maxTokens: 64, temperature: SAMPLED }),
    ];
    const decoding = all.map(({ tokens, gapsMs }) => (1000 * (tokens - 1)) / sum(gapsMs));
    return { 'decode tok/s': median(decoding) };
  },
};

/** Conversations with one system prompt, more of them than there are sequences. */
const branches: Workload = {
  name: 'branches',
  describe: 'eight conversations of three turns with the same beginning of 300 tokens, in turn',
  run: async (worker, streams, seed) => {
    const begunMs = performance.now();
    const system = worker.textOf(300, seed * 100);
    const histories = times(8, (at) => `${system} ${worker.textOf(60, seed * 100 + at + 1)}`);
    const measures: StreamMeasure[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      for (const [at, history] of histories.entries()) {
        const measure = await worker.answer(history, { maxTokens: 8, temperature: SAMPLED });
        measures.push(measure);
        histories[at] = `${history}${measure.text} ${worker.textOf(20, seed * 100 + 10 * at + turn + 20)}`;
      }
    }
    return {
      'evaluated tokens': sum(measures.map(({ evaluatedTokens }) => evaluatedTokens)) / streams,
      'seconds in all': (performance.now() - begunMs) / 1000,
    };
  },
};

const unrelated: Workload = {
  name: 'unrelated',
  describe: 'each stream sends four prompts of 200 tokens that share nothing',
  run: async (worker, streams, seed) => {
    const begunMs = performance.now();
    const all = await Promise.all(times(streams, (at) => severalPrompts(worker, seed * 100 + 10 * at)));
    return figures(all.flat(), performance.now() - begunMs);
  },
};

async function severalPrompts(worker: RacedWorker, seed: number): Promise<StreamMeasure[]> {
  const measures: StreamMeasure[] = [];
  for (let at = 0; at < 4; at += 1) {
    const prompt = worker.textOf(200, seed + at);
    measures.push(await worker.answer(prompt, { maxTokens: 12, temperature: SAMPLED }));
  }
  return measures;
}

const ONE_TOKEN_REQUESTS = 600;
const COUNTED_REQUESTS = 300;

const oneToken: Workload = {
  name: 'one-token',
  describe: '600 requests of one token, one after the other; the last 300 count',
  run: async (worker, _streams, seed) => {
    const found: number[] = [];
    for (let at = 0; at < ONE_TOKEN_REQUESTS; at += 1) {
      const prompt = worker.textOf(12, seed * 1_000 + at);
      found.push((await worker.answer(prompt, { maxTokens: 1, temperature: SAMPLED })).firstTokenMs);
    }
    return { 'request p50 ms': median(found.slice(-COUNTED_REQUESTS)) };
  },
};

const embed: Workload = {
  name: 'embed',
  describe: 'jobs of 64 short texts; each text must have the same vector in every job',
  run: async (worker, _streams, seed): Promise<Figures> => {
    const job = (at: number) =>
      worker.embed(times(64, (each) => text(8 + (each % 24), seed * 100 + at + each)));
    await job(0);
    const ms = [await job(1), await job(2), await job(3)];
    return { 'texts/s': 64_000 / median(ms) };
  },
};

const own = [deep, deepTurns, besideIdle, branches, unrelated, oneToken, embed];

export const workloads: ReadonlyMap<string, Workload> = new Map(
  [...raced, ...own].map((workload) => [workload.name, workload]),
);
