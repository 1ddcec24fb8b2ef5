import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { borderUpTo, isRow, positionsIn, rowTokens, runStarts, withoutRows } from './rows.ts';

const run = fc.record({
  digest: fc.stringMatching(/^[0-9a-f]{8}$/),
  rows: fc.integer({ min: 1, max: 20 }),
  positions: fc.integer({ min: 1, max: 20 }),
});
const part = fc.oneof(
  fc.array(fc.nat(2 ** 31 - 1), { maxLength: 5 }).map((tokens) => ({ tokens })),
  run.map((each) => ({ run: { ...each, positions: Math.min(each.rows, each.positions) } })),
);

const tokensOf = (
  parts: readonly ({ tokens: number[] } | { run: Parameters<typeof rowTokens>[0] })[],
): number[] => parts.flatMap((each) => ('tokens' in each ? each.tokens : [...rowTokens(each.run)]));

describe('rows of images in a prompt', () => {
  it('are told from tokens, and say where they begin, end and how many positions they take', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const tokens = tokensOf(parts);
        const starts: number[] = [];
        const borders = new Set<number>([0]);
        let at = 0;
        let positions = 0;
        for (const each of parts) {
          if ('run' in each) {
            starts.push(at);
            borders.add(at);
            at += each.run.rows;
            positions += each.run.positions;
            borders.add(at);
          } else {
            for (let i = 0; i <= each.tokens.length; i += 1) borders.add(at + i);
            at += each.tokens.length;
            positions += each.tokens.length;
          }
        }
        expect(runStarts(tokens)).toEqual(starts);
        expect(positionsIn(tokens, tokens.length)).toBe(positions);
        expect(withoutRows(tokens)).toEqual(tokens.filter((token) => token < 2 ** 31));
        for (let place = 0; place <= tokens.length; place += 1) {
          const before = [...borders].filter((border) => border <= place);
          expect(borderUpTo(tokens, place)).toBe(Math.max(...before));
        }
      }),
    );
  });

  it('are the same for the same image only', () => {
    const image = { digest: 'a'.repeat(64), rows: 16, positions: 16 };
    expect(rowTokens(image)).toEqual(rowTokens({ ...image }));
    expect([...rowTokens(image)].every(isRow)).toBe(true);
    for (const other of [
      { ...image, digest: `${'a'.repeat(63)}b` },
      { ...image, rows: 17, positions: 17 },
      { ...image, positions: 4 },
    ]) {
      const shared = [...rowTokens(other)].findIndex((token, at) => token !== rowTokens(image)[at]);
      expect(shared).toBe(0);
    }
  });

  it('fit a list of 32-bit numbers', () => {
    const tokens = rowTokens({ digest: '0', rows: 300, positions: 3 });
    expect([...Uint32Array.from(Array.from(tokens))]).toEqual([...tokens]);
  });
});
