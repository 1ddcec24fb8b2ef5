import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';
import { firstPlace, lastPlace } from './searching.ts';

const freely = (): Budget => new Budget({ steps: 1e9, characters: 1e9, elements: 1e9 });
/** Few letters, so that beginnings repeat; long enough for both ways of searching. */
const letters = (maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b'), { maxLength, size: 'max' }).map((all) => all.join(''));

describe('a search', () => {
  it('finds what JavaScript finds, in both directions', () => {
    const part = fc.tuple(letters(900), fc.nat(900), fc.nat(120));
    fc.assert(
      fc.property(part, letters(60), fc.nat(950), ([text, start, length], other, edge) => {
        for (const wanted of [text.slice(start, start + length), other]) {
          expect(firstPlace(text, wanted, freely(), Math.min(edge, text.length))).toBe(
            text.indexOf(wanted, Math.min(edge, text.length)),
          );
          const end = Math.min(edge, text.length);
          expect(lastPlace(text, wanted, freely(), end)).toBe(
            end < wanted.length ? -1 : text.lastIndexOf(wanted, end - wanted.length),
          );
        }
      }),
    );
  });

  it('is counted by what it reads', () => {
    const text = 'a'.repeat(320_000);
    const wanted = `${'a'.repeat(80_000)}b${'a'.repeat(80_000)}`;
    const limited = (): Budget => new Budget({ steps: 10_000, characters: 1e9, elements: 1e9 });
    for (const search of [firstPlace, lastPlace]) {
      const budget = limited();
      expect(search(text, wanted, budget)).toBe(-1);
      expect(() => search(text, 'b', budget)).toThrow(/10000 steps/);
    }
  });
});
