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

it('adds the tokens that were asked for once', () => {
  const logits = Float32Array.of(4, 1, 3, 2);
  expect(withTokens(largestLogits(logits, 2), logits, [2, 1]).map(({ token }) => token)).toEqual([0, 2, 1]);
});
