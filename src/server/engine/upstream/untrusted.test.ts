import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCount } from './untrusted.ts';

it('a count is a whole number, and sums of thousands of them are exact, whatever an upstream sends', () => {
  const sent = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom(2 ** 53, 2 ** 53 - 1, 1e300, -0, '7', null),
  );
  fc.assert(
    fc.property(sent, (value) => {
      const count = readCount(value);
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
        expect(count).toBeUndefined();
        return;
      }
      expect(count).toBe(value > 2_147_483_647 ? 2_147_483_647 : value);
      expect(Number.isSafeInteger((count ?? 0) * 4_000_000)).toBe(true);
    }),
  );
});
