import { describe, expect, it } from 'vitest';
import type { Measurement } from './measure.ts';
import { measurement, othersAtOdd, plain, token } from '../../../../test/support/measurements.ts';
import { compareCosts, distanceOf, divergenceOf, figure, figuresOf, verdictOf } from './compare.ts';

describe('figures of a model', () => {
  it('are those of all tokens and bytes', () => {
    const figures = figuresOf('all', plain.texts, null);
    expect(figures).toMatchObject({ name: 'all', tokens: 200, same_choice: null });
    expect(figures.perplexity).toBeCloseTo(Math.E, 12);
    expect(figures.bits_per_byte).toBeCloseTo(200 / Math.LN2 / 400, 12);
    const compared = figuresOf('all', plain.texts, othersAtOdd().texts);
    expect([compared.same_choice, compared.reference_bits_per_byte]).toEqual([0.5, figures.bits_per_byte]);
    expect(verdictOf(plain, null)).toBe('Needs 0.72 bits per byte of text; calls and JSON 38 of 40.');
  });
});

describe('a figure', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null])(
    'is none where a card cannot hold it: %d',
    (value) => {
      expect(figure(value)).toBeNull();
    },
  );
  it('is a number else', () => expect(figure(-0.5)).toBe(-0.5));
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
    const divergence = divergenceOf(own, reference);
    expect(divergence).toBeGreaterThan(0);
    expect(divergence).toBeLessThanOrEqual(whole + 1e-12);
    expect(divergenceOf(reference as never, reference as never)).toBe(0);
  });
});

describe('a comparison', () => {
  it('is of no distance to an equal model', () => {
    const same = { tokens: 200, sameChoice: 1, divergence: 0, lossRatio: 1 };
    expect(distanceOf(plain, plain)).toMatchObject(same);
    expect(compareCosts(plain, plain)).toEqual({ readRatio: 1, writtenRatio: 1, memoryRatio: 1 });
    expect(verdictOf(plain, plain)).toBe(
      'Answers like big in 100.0 % of tokens; calls and JSON 38 of 40; 1.00 times as fast; 1.00 times the memory.',
    );
  });

  it('says with what share of the bits other choices come', () => {
    const worse = measurement('x', () => -1.5, { ...othersAtOdd(), model: 'x' });
    expect(verdictOf(worse, plain)).toMatch(
      /^Differs from big: the same choice in only 50\.0 % of tokens, and 1\.00 times its bits; /,
    );
  });

  it('has no costs of a reference elsewhere', () => {
    const remote = { ...plain, rendered: null, readPerS: null, writtenPerS: null, memoryBytes: null };
    expect(compareCosts(plain, remote)).toEqual({
      readRatio: null,
      writtenRatio: null,
      memoryRatio: null,
    });
    expect(verdictOf(plain, remote)).not.toContain('times');
  });
});

describe('the verdict names what was not tried', () => {
  const facts = { window: 4096, tokens: 400, facts: 5, missed: [0.25] };
  it.each<[string, Partial<Measurement>, string]>([
    [
      'some cases',
      {
        cases: { all: 40, passed: 14, failed: [], left: 26 },
        notTried: [{ what: 'calls and JSON', count: 26, why: 'the 50 seconds for them were over' }],
      },
      'calls and JSON 14 of 14 tried; 26 of the calls and JSON not tried, because the 50 seconds for them were over.',
    ],
    [
      'all cases',
      {
        cases: { all: 0, passed: 0, failed: [], left: 0 },
        notTried: [{ what: 'calls and JSON', count: null, why: 'you left them out' }],
      },
      'Needs 0.72 bits per byte of text; calls and JSON not tried, because you left them out.',
    ],
    ['most of the window', { needle: facts }, 'recalls 4 of 5 facts in 400 tokens of a window of 4096.'],
    ['nothing', { needle: { ...facts, window: 400 } }, 'recalls 4 of 5 facts in 400 tokens.'],
  ])('%s', (_, over, words) => {
    expect(
      verdictOf(
        measurement('x', () => -1, over),
        null,
      ),
    ).toContain(words);
  });
});
