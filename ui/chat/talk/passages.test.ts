import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestPassages, likeness, passagesOf, passageText } from './passages.ts';

const lines = (count: number, chars = 100): string =>
  Array.from({ length: count }, (_, at) => `${at + 1}:`.padEnd(chars - 1, 'x')).join('\n');

describe('passages', () => {
  it('hold every visible character of any text once, in order, none longer than a model reads', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '😀', 'word '), maxLength: 6000 });
    fc.assert(
      fc.property(text, (whole) => {
        const parts = passagesOf(whole).map(({ from, to }) => whole.slice(from, to));
        expect(parts.join('').replaceAll(/\s/g, '')).toBe(whole.replaceAll(/\s/g, ''));
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(1000);
          expect(part.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('end with lines', () => {
    const text = lines(40);
    for (const { to } of passagesOf(text)) expect([undefined, '\n']).toContain(text[to] && text[to - 1]);
  });
});

describe('the best passages', () => {
  const text = lines(400);
  const all = passagesOf(text);

  it('are as many as fit, in the order of the text, with neighbours in one', () => {
    const scores = all.map(() => 0);
    [scores[30], scores[7], scores[8]] = [0.9, 0.8, 0.7];
    const chosen = bestPassages(all, scores, undefined);
    const sent = chosen.reduce((sum, { from, to }) => sum + to - from, 0);
    expect(sent).toBeLessThanOrEqual(6000);
    expect(chosen.some(({ from, to }) => from === all[7]?.from && to >= (all[8]?.to ?? 0))).toBe(true);
    expect(chosen.some(({ from }) => from === all[30]?.from)).toBe(true);
    expect(chosen.map(({ from }) => from)).toEqual(chosen.map(({ from }) => from).toSorted((a, b) => a - b));
  });

  it('are fewer in a small window, and never none', () => {
    const scores = all.map((_, at) => at);
    expect(bestPassages(all, scores, 1000)).toHaveLength(1);
    expect(bestPassages(all, scores, 1)).toEqual([all.at(-1)]);
  });

  it('are read under the numbers of their lines', () => {
    const short = 'one\ntwo\nthree\nfour\n';
    expect(
      passageText(short, [
        { from: 0, to: 4 },
        { from: 8, to: 19 },
      ]),
    ).toBe('[Lines 1 to 1]\none\n\n[…]\n\n[Lines 3 to 4]\nthree\nfour');
  });
});

it('likeness is that of directions', () => {
  const of = (...numbers: readonly number[]) => Float32Array.from(numbers);
  expect(likeness(of(1, 0), of(5, 0))).toBeCloseTo(1);
  expect(likeness(of(1, 0), of(0, 2))).toBe(0);
  expect(likeness(of(0, 0), of(0, 2))).toBe(0);
});
