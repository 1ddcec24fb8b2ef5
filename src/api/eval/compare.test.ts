import { describe, expect, it } from 'vitest';
import type { PromptToken } from '../../contract/job-event.ts';
import { distanceOf, divergenceOf, figuresOf, findingsOf, verdictOf } from './compare.ts';
import type { Measurement } from './measure.ts';

const named = (id: number) => ({ id, text: String(id), bytes: [48] });
const token = (id: number, logprob: number, top: readonly (readonly [number, number])[]): PromptToken => ({
  ...named(id),
  score: { logprob, rank: 1, top: top.map(([other, value]) => ({ ...named(other), logprob: value })) },
});
const first: PromptToken = { ...named(9), score: null };

/** Texts of a hundred tokens whose log probabilities the function gives by their place. */
function measurement(
  model: string,
  logprobAt: (at: number) => number,
  over: Partial<Measurement> = {},
): Measurement {
  const tokens = [
    first,
    ...Array.from({ length: 100 }, (_, at) => token(at, logprobAt(at), [[at, logprobAt(at)]])),
  ];
  return {
    model,
    texts: [
      { name: 'a', bytes: 200, tokens },
      { name: 'b', bytes: 200, tokens },
    ],
    rendered: 'Hello',
    cases: { all: 40, passed: 38, failed: [], left: 1 },
    readPerS: 100,
    writtenPerS: 10,
    memoryBytes: 1000,
    ...over,
  };
}
/** Finds another token likeliest in every second place. */
function othersAtOdd(): Measurement {
  const { texts, ...rest } = measurement('x', () => -1);
  const tokens = (texts[0]?.tokens ?? []).map((each, at) =>
    each.score === null || at % 2 === 1
      ? each
      : { ...each, score: { ...each.score, top: [{ ...named(700), logprob: -0.9 }] } },
  );
  return { ...rest, texts: texts.map((text) => ({ ...text, tokens })) };
}
const plain = measurement('big', () => -1);

describe('figures of a model', () => {
  it('leave out the token that nothing stands before', () => {
    const figures = figuresOf(plain.texts, 'all');
    expect(figures).toMatchObject({ name: 'all', tokens: 200 });
    expect(figures.perplexity).toBeCloseTo(Math.E, 12);
    expect(figures.bitsPerByte).toBeCloseTo(200 / Math.LN2 / 400, 12);
    expect(verdictOf(plain, null)).toBe('Needs 0.72 bits per byte of text; calls and JSON 38 of 39.');
  });
});

describe('the divergence of two distributions', () => {
  const half = Math.log(0.5);
  it('is that of the tokens that both know, and of the rest as one', () => {
    const reference = token(1, half, [[1, half]]);
    const own = token(1, Math.log(0.25), [[1, Math.log(0.25)]]);
    const expected = 0.5 * Math.log(0.5 / 0.25) + 0.5 * Math.log(0.5 / 0.75);
    expect(divergenceOf(own as never, reference as never)).toBeCloseTo(expected, 12);
  });

  it('is never more than the whole one, and 0 for equal distributions', () => {
    // Three tokens, of which the candidate reports two.
    const [p, q] = [
      [0.5, 0.3, 0.2],
      [0.2, 0.5, 0.3],
    ];
    const tops = (values: readonly number[], count: number) =>
      values.slice(0, count).map((value, id) => [id, Math.log(value)] as const);
    const reference = token(0, Math.log(0.5), tops(p, 3));
    const own = token(0, Math.log(0.2), tops(q, 2));
    const whole = p.reduce((sum, value, at) => sum + value * Math.log(value / (q?.[at] ?? 1)), 0);
    const told = divergenceOf(own as never, reference as never);
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(whole + 1e-12);
    expect(divergenceOf(reference as never, reference as never)).toBe(0);
  });
});

describe('a comparison', () => {
  it('finds nothing wrong with an equal model', () => {
    expect(findingsOf(plain, plain)).toEqual([]);
    const distance = distanceOf(plain, plain);
    expect(distance).toMatchObject({
      tokens: 200,
      sameChoice: 1,
      divergence: 0,
      lossRatio: 1,
      memoryRatio: 1,
    });
    expect(verdictOf(plain, distance)).toBe(
      'Answers like big in 100.0 % of tokens; calls and JSON 38 of 39; 1.00 times as fast; 1.00 times the memory.',
    );
  });

  it.each([
    [
      'coarse or damaged weights',
      measurement('x', () => -1.5),
      /^It chooses another next token than big in 0\.0 % of places, and needs 1\.50 times the bits of big/,
    ],
    ['other choices', othersAtOdd(), /in 50\.0 % of places, and needs 1\.00 times/],
    ['positions that go wrong', measurement('x', (at) => -1 - at / 100), /gets worse along a text/],
    ['another template', measurement('x', () => -1, { rendered: 'Hi' }), /another chat template/],
    [
      'another vocabulary',
      measurement('x', () => -1, { texts: [{ name: 'a', bytes: 200, tokens: [first, token(7, -1, [])] }] }),
      /splits text into other tokens/,
    ],
  ])('names %s', (_, candidate, words) => {
    expect(findingsOf(candidate, plain).join('\n')).toMatch(words);
    expect(findingsOf(candidate, plain)).toHaveLength(1);
  });

  it('takes a small loss for what a quant costs', () => {
    expect(
      findingsOf(
        measurement('x', () => -1.1),
        plain,
      ),
    ).toEqual([]);
  });
});
