import fc from 'fast-check';
import { expect, it } from 'vitest';
import { largestLogits, pickLogits, withTokens } from './candidates.ts';

const logit = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(Number.NEGATIVE_INFINITY));

it('finds the largest as sorting does, the lower token first among equals', () => {
  fc.assert(
    fc.property(fc.array(logit, { maxLength: 50 }), fc.integer({ min: 1, max: 12 }), (values, count) => {
      const sorted = values
        .map((value, token) => ({ token, logit: value }))
        .sort((a, b) => b.logit - a.logit);
      // Minus infinity less itself is no number, and so no order.
      const finite = sorted.filter((entry) => Number.isFinite(entry.logit)).slice(0, count);
      const found = largestLogits(Float32Array.from(values), count);
      expect(found.filter((entry) => Number.isFinite(entry.logit))).toEqual(finite);
      expect(found).toHaveLength(Math.min(count, values.length));
    }),
    { seed: 1 },
  );
});

it('passes over values that are no numbers, unless there is nothing else', () => {
  const numbers = Float32Array.of(1, Number.NaN, 5, Number.NaN, Number.NaN, 3, Number.NaN, 2, 9);
  expect(largestLogits(numbers, 1)).toEqual([{ token: 8, logit: 9 }]);
  expect(pickLogits(new Float32Array(9).fill(Number.NaN), { tokens: [], largest: 1 }).largest).toBeNaN();
});

it('gives the rank of a token and the weight of all as plain sums do', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(logit, fc.float({ min: -90, max: 30, noNaN: true })), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.nat(),
      fc.integer({ min: 0, max: 20 }),
      (values, nth, largest) => {
        const logits = Float32Array.from(values);
        const token = nth % logits.length;
        const { tokenRank, totalWeight, largest: most } = pickLogits(logits, { tokens: [token], largest });
        const own = logits[token] as number;
        expect(tokenRank(token)).toBe(1 + logits.filter((other) => other > own).length);
        if (!Number.isFinite(most)) return;
        const weight = logits.reduce((sum, each) => sum + Math.exp(each - most), 0);
        expect(totalWeight() / weight).toBeCloseTo(1, 9);
      },
    ),
    { seed: 1 },
  );
});

it('adds the tokens that were asked for once', () => {
  const logits = Float32Array.of(4, 1, 3, 2);
  expect(withTokens(largestLogits(logits, 2), logits, [2, 1]).map(({ token }) => token)).toEqual([0, 2, 1]);
});
