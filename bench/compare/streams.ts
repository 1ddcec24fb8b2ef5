/** Scenarios of decoding: one stream, and several that start together. */
import type { Side } from '../client/side.ts';
import { type StreamMeasure, streamChat } from '../client/stream.ts';
import { type Figures, median, perSecond, spread, sum } from '../statistics.ts';
import { decodeRate, type Scenario, story } from './scenario.ts';

const ANSWER_TOKENS = 48;

const decode: Scenario = {
  name: 'decode',
  describe: 'one stream, about 30 prompt tokens, 64 tokens',
  run: async (side, round, textOf) => {
    const measure = await streamChat(side, story(textOf(30, round)), { maxTokens: 64 });
    return {
      'decode tok/s': decodeRate(measure),
      'first token ms': measure.firstTokenMs,
      ...spread('gap', 'ms', measure.gapsMs),
    };
  },
};

function concurrency(streams: number): Scenario {
  return {
    name: `concurrency-${streams}`,
    describe: `${streams} streams started together, prompts of about 30 tokens, 48 tokens each`,
    run: (side, round, textOf) =>
      together(
        side,
        Array.from({ length: streams }, (_, at) => textOf(30, round * 100 + at)),
      ),
  };
}

/** Prompts of different lengths are evaluated in different steps, so streams flow while others begin. */
function burst(streams: number): Scenario {
  return {
    name: `burst-${streams}`,
    describe: `${streams} streams started together, prompts of about 30, 70, 110 … tokens, 48 tokens each`,
    run: (side, round, textOf) =>
      together(
        side,
        Array.from({ length: streams }, (_, at) => textOf(30 + 40 * at, round * 100 + at)),
      ),
  };
}

async function together(side: Side, prompts: readonly string[]): Promise<Figures> {
  const begin = performance.now();
  const all = await Promise.all(
    prompts.map((prompt) => streamChat(side, story(prompt), { maxTokens: ANSWER_TOKENS })),
  );
  const tokens = sum(all.map((measure) => measure.tokens));
  const first = all.map(({ firstTokenMs }) => firstTokenMs);
  return {
    'tok/s together': perSecond(tokens, performance.now() - begin),
    'first token p50 ms': median(first),
    'first token max ms': Math.max(...first),
    ...spread(
      'gap',
      'ms',
      all.flatMap(({ gapsMs }) => gapsMs),
    ),
    ...spread('gap while others begin', 'ms', gapsWhileOthersBegin(all)),
  };
}

/** The gaps of streams that have begun which open before the last one has its first token. */
export function gapsWhileOthersBegin(all: readonly Pick<StreamMeasure, 'arrivalsMs' | 'gapsMs'>[]): number[] {
  const lastBeginning = Math.max(...all.flatMap(({ arrivalsMs }) => arrivalsMs[0] ?? []));
  return all.flatMap(({ arrivalsMs, gapsMs }) =>
    gapsMs.filter((_, at) => (arrivalsMs[at] ?? lastBeginning) < lastBeginning),
  );
}

export const streamScenarios: readonly Scenario[] = [
  decode,
  concurrency(2),
  concurrency(4),
  concurrency(8),
  burst(2),
  burst(4),
  burst(8),
];
