import { describe, expect, it } from 'vitest';
import { distanceOf, divergenceOf, figuresOf, findingsOf, verdictOf } from './compare.ts';
import type { Measurement, TokenScore } from './measure.ts';

const token = (id: number, logprob: number, top: readonly (readonly [number, number])[]): TokenScore => ({
  id,
  logprob,
  top: top.map(([other, value]) => [other, value]),
});

/** Texts of a hundred tokens whose log probabilities the function gives by their place. */
function measurement(
  model: string,
  logprobAt: (at: number) => number,
  over: Partial<Measurement> = {},
): Measurement {
  const tokens = Array.from({ length: 100 }, (_, at) => token(at, logprobAt(at), [[at, logprobAt(at)]]));
  return {
    model,
    bitsPerWeight: null,
    own: [],
    needle: null,
    host: { pid: 1, mapped: [], cpuFeatures: '', libc: '' },
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
    at % 2 === 1 ? each : token(each.id, each.logprob, [[700, -0.9]]),
  );
  return { ...rest, texts: texts.map((text) => ({ ...text, tokens })) };
}
const plain = measurement('big', () => -1);

describe('figures of a model', () => {
  it('are those of all tokens and bytes', () => {
    const figures = figuresOf('all', plain.texts, null);
    expect(figures).toMatchObject({ name: 'all', tokens: 200, same_choice: null });
    expect(figures.perplexity).toBeCloseTo(Math.E, 12);
    expect(figures.bits_per_byte).toBeCloseTo(200 / Math.LN2 / 400, 12);
    const beside = figuresOf('all', plain.texts, othersAtOdd().texts);
    expect([beside.same_choice, beside.reference_bits_per_byte]).toEqual([0.5, figures.bits_per_byte]);
    expect(verdictOf(plain, null)).toBe('Needs 0.72 bits per byte of text; calls and JSON 38 of 39.');
  });
});

describe('the divergence of two distributions', () => {
  const half = Math.log(0.5);
  it('is that of the tokens that both know, and of the rest as one', () => {
    const reference = token(1, half, [[1, half]]);
    const own = token(1, Math.log(0.25), [[1, Math.log(0.25)]]);
    const expected = 0.5 * Math.log(0.5 / 0.25) + 0.5 * Math.log(0.5 / 0.75);
    expect(divergenceOf(own, reference)).toBeCloseTo(expected, 12);
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
    const told = divergenceOf(own, reference);
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
      measurement('x', () => -1, { texts: [{ name: 'a', bytes: 200, tokens: [token(7, -1, [])] }] }),
      /splits 1 of 1 texts into other tokens than big/,
    ],
  ])('names %s', (_, candidate, words) => {
    expect(findingsOf(candidate, plain).join('\n')).toMatch(words);
    expect(findingsOf(candidate, plain)).toHaveLength(1);
  });

  it.each([
    [2.6, 4.8, 'too coarse a quant (2.6 bits per weight)'],
    [4.8, 4.8, 'damaged weights'],
    [2.6, 2.7, 'damaged weights'],
    [5.5, 16, 'damaged weights'],
    [null, 4.8, 'too coarse a quant, or damaged weights'],
  ])('tells by %d and %d bits per weight what made it worse', (own, other, cause) => {
    const [found] = findingsOf(
      measurement('x', () => -1.5, { bitsPerWeight: own }),
      measurement('big', () => -1, { bitsPerWeight: other }),
    );
    expect(found).toMatch(new RegExp(`: ${cause.replaceAll(/[().]/g, String.raw`\$&`)}[.]$`));
  });

  it('finds logits that are no numbers', () => {
    const [found] = findingsOf(
      measurement('x', () => Number.NaN),
      plain,
    );
    expect(found).toContain('probabilities that are no numbers');
  });

  it('finds that facts of a long text are lost, where texts show nothing', () => {
    const needle = (missed: number[]) => ({ window: 512, tokens: 400, facts: 5, missed });
    const recalling = (missed: number[]) => measurement('x', () => -1, { needle: needle(missed) });
    const big = measurement('big', () => -1, { needle: needle([]) });
    expect(findingsOf(recalling([0.25]), big)).toEqual([]);
    expect(findingsOf(recalling([0.05, 0.25, 0.5]), big)).toEqual([
      'It recalls 2 of 5 facts in a text of 400 tokens, and big 5: its window, its rotary base or the types of its KV cache differ.',
    ]);
    expect(findingsOf(recalling([0.05, 0.25, 0.5]), plain)).toEqual([]);
    expect(verdictOf(recalling([0.25]), null)).toContain('recalls 4 of 5 facts in 400 tokens');
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
