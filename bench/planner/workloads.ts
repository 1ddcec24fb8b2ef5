/** What the planners race on. A workload runs once in one worker, with fresh text, and returns named figures. */
import { edits, END_OF_CODE, promptFor } from '../edits/corpus.ts';
import { type Figures, median, perSecond, quantile, sum } from '../statistics.ts';
import type { RacedWorker, StreamMeasure } from './raced-worker.ts';

export interface Workload {
  readonly name: string;
  readonly describe: string;
  run(worker: RacedWorker, streams: number, seed: number): Promise<Figures>;
}

const SAMPLED = 1;
const GREEDY = 0;
const EDITS_PER_STREAM = 3;

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

function burst(name: string, temperature: number, describe: string): Workload {
  return {
    name,
    describe,
    run: async (worker, streams, seed) => {
      const begunMs = performance.now();
      const prompts = times(streams, (at) => worker.textOf(40, seed * 100 + at));
      const all = await Promise.all(
        prompts.map((prompt) => worker.answer(prompt, { maxTokens: 48, temperature })),
      );
      return figures(all, performance.now() - begunMs);
    },
  };
}

const longPrompt: Workload = {
  name: 'long-prompt',
  describe: 'a prompt of 900 tokens arrives while the streams decode',
  run: async (worker, streams, seed) => {
    const begunMs = performance.now();
    let long: Promise<StreamMeasure> | undefined;
    const arrive = (): void => {
      long ??= worker.answer(worker.textOf(900, seed * 100 + 99), { maxTokens: 2, temperature: SAMPLED });
    };
    const all = await Promise.all(
      times(streams, (at) =>
        worker.answer(worker.textOf(40, seed * 100 + at), {
          maxTokens: 120,
          temperature: SAMPLED,
          onFirstToken: arrive,
        }),
      ),
    );
    const { firstTokenMs } = (await long) ?? { firstTokenMs: Number.NaN };
    return { ...figures(all, performance.now() - begunMs), 'long prompt first token ms': firstTokenMs };
  },
};

const conversations: Workload = {
  name: 'conversations',
  describe: 'each stream is a conversation of 4 turns, resent in full, that starts at its own time',
  run: async (worker, streams, seed) => {
    const begunMs = performance.now();
    const all = await Promise.all(times(streams, (at) => conversation(worker, seed * 100 + at, at)));
    return figures(all.flat(), performance.now() - begunMs);
  },
};

async function conversation(worker: RacedWorker, seed: number, at: number): Promise<StreamMeasure[]> {
  await new Promise((resolve) => setTimeout(resolve, 170 * at));
  const measures: StreamMeasure[] = [];
  let history = worker.textOf(200, seed * 10);
  for (let turn = 0; turn < 4; turn += 1) {
    history += ` ${worker.textOf(20 + 13 * at, seed * 10 + turn + 1)}`;
    const measure = await worker.answer(history, { maxTokens: 12 + 9 * at, temperature: SAMPLED });
    history += measure.text;
    measures.push(measure);
  }
  return measures;
}

const codeEdits: Workload = {
  name: 'edits',
  describe: 'greedy edits of short programs, three per stream; the answer repeats most of the prompt',
  run: async (worker, streams, seed) => {
    const begunMs = performance.now();
    const all = await Promise.all(times(streams, (at) => answerEdits(worker, seed + at * EDITS_PER_STREAM)));
    const decoded = all.flat().filter(({ gapsMs }) => gapsMs.length > 0);
    const rates = decoded.map(({ tokens, gapsMs }) => perSecond(tokens - 1, sum(gapsMs)));
    return {
      ...figures(all.flat(), performance.now() - begunMs),
      ...(rates.length > 0 && { 'decode tok/s per stream': median(rates) }),
    };
  },
};

async function answerEdits(worker: RacedWorker, first: number): Promise<StreamMeasure[]> {
  const corpus = edits();
  const measures: StreamMeasure[] = [];
  for (let at = first; at < first + EDITS_PER_STREAM; at += 1) {
    const [edit, example] = [corpus[at % corpus.length], corpus[(at + 1) % corpus.length]];
    if (!edit || !example) throw new Error('the corpus of edits is empty');
    const options = { maxTokens: 240, temperature: GREEDY, stop: [END_OF_CODE] };
    measures.push(await worker.answer(promptFor(edit, example), options));
  }
  return measures;
}

export function figures(all: readonly StreamMeasure[], ms: number): Figures {
  const gaps = all.flatMap(({ gapsMs }) => gapsMs);
  return {
    'tok/s': perSecond(sum(all.map(({ tokens }) => tokens)), ms),
    'first token p50 ms': median(all.map(({ firstTokenMs }) => firstTokenMs)),
    ...(gaps.length > 0 && { 'gap p50 ms': median(gaps), 'gap p99 ms': quantile(gaps, 0.99) }),
  };
}

export const workloads: readonly Workload[] = [
  burst('burst', SAMPLED, 'streams that start together; prompts of 40 tokens, answers of 48 each'),
  burst('repeating', GREEDY, 'the same, greedy: the random model repeats itself, so drafts are accepted'),
  longPrompt,
  conversations,
  codeEdits,
];
