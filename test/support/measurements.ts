/** Made-up measurements of a model. */
import type { Measurement, TokenScore } from '../../src/server/api/eval/measure.ts';

export const token = (
  id: number,
  logprob: number,
  top: readonly (readonly [number, number])[],
): TokenScore => ({
  id,
  logprob,
  top: top.map(([other, value]) => [other, value]),
});

/** Texts of a hundred tokens whose log probabilities the function gives by their place. */
export function measurement(
  model: string,
  logprobAt: (at: number) => number,
  over: Partial<Measurement> = {},
): Measurement {
  const tokens = Array.from({ length: 100 }, (_, at) => token(at, logprobAt(at), [[at, logprobAt(at)]]));
  return {
    model,
    own: [],
    needle: null,
    host: { pid: 1, mapped: [], cpuFeatures: '', libc: '' },
    texts: [
      { name: 'a', bytes: 200, tokens },
      { name: 'b', bytes: 200, tokens },
    ],
    rendered: 'Hello',
    cases: { all: 40, passed: 38, failed: [], left: 0 },
    notTried: [],
    readPerS: 100,
    writtenPerS: 10,
    memoryBytes: 1000,
    ...over,
  };
}
/** Finds another token likeliest in every second place. */
export function othersAtOdd(): Measurement {
  const { texts, ...rest } = measurement('x', () => -1);
  const tokens = (texts[0]?.tokens ?? []).map((each, at) =>
    at % 2 === 1 ? each : token(each.id, each.logprob, [[700, -0.9]]),
  );
  return { ...rest, texts: texts.map((text) => ({ ...text, tokens })) };
}
export const plain = measurement('big', () => -1);
