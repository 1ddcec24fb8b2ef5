import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonGauge } from './json-gauge.ts';

const MANY = { chars: 1e6, depth: 1e6, tokens: 1e6 };

function exceeds(pieces: readonly string[], limits: Partial<typeof MANY>): boolean {
  const gauge = new JsonGauge({ ...MANY, ...limits });
  return pieces.map((piece) => gauge.exceeds(piece)).includes(true);
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + valuesOf(each), 1);
}

describe('the gauge of a JSON text', () => {
  const inPieces = fc.tuple(fc.json({ maxDepth: 5 }), fc.array(fc.nat(200))).map(([text, cuts]) => {
    const at = [0, ...cuts.toSorted((a, b) => a - b).filter((cut) => cut < text.length), text.length];
    return { text, pieces: at.slice(1).map((end, index) => text.slice(at[index], end)) };
  });

  it('tells the depth exactly, however the text is cut', () => {
    fc.assert(
      fc.property(inPieces, ({ text, pieces }) => {
        const depth = depthOf(JSON.parse(text));
        expect(exceeds(pieces, { depth })).toBe(false);
        if (depth > 0) expect(exceeds(pieces, { depth: depth - 1 })).toBe(true);
      }),
    );
  });

  it('lets no text pass that has more values or characters', () => {
    fc.assert(
      fc.property(inPieces, ({ text, pieces }) => {
        const values = valuesOf(JSON.parse(text));
        if (values > 1) expect(exceeds(pieces, { tokens: Math.floor((values - 1) / 2) })).toBe(true);
        expect(exceeds(pieces, { tokens: 3 * values })).toBe(false);
        expect(exceeds(pieces, { chars: text.length - 1 })).toBe(true);
        expect(exceeds(pieces, { chars: text.length })).toBe(false);
      }),
    );
  });
});
