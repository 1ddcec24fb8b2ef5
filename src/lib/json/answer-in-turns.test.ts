import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnswerInTurns } from './parse-json-in-turns.ts';

const LIMITS = { depth: 64, tokens: 100_000 };
const parse = (text: string, limits: object = {}) =>
  parseAnswerInTurns(Buffer.from(text), { ...LIMITS, ...limits });

describe('the answer of another program, read in turns', () => {
  it('is what JSON.parse makes of it, and refused where that refuses it', async () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.constantFrom('0', '-0', '1e3', '1E+2', '01', '-', '1.', '.5', '1e999', ''),
    );
    const numbers = fc
      .array(fc.tuple(number, fc.constantFrom('', '', '', ' ', ' \n')), { maxLength: 60 })
      .map((each) => `[${each.map(([one, blank]) => one + blank).join(',')}]`);
    const key = fc.constantFrom('"a"', '"b"', '"__proto__"', '"\\u005f_proto__"', '"\\u0061"');
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.json({ maxDepth: 2 }),
        numbers,
        fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(key, tie('value')), { maxLength: 4 })
          .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(0, 3, 40, 1_000), async (text, allowed) => {
        let expected: unknown;
        try {
          // A number beyond a double is no number here.
          if (/1e999/.test(text)) throw new SyntaxError('too large');
          expected = JSON.parse(text);
        } catch {
          await expect(parse(text, { numbers: allowed })).rejects.toMatchObject({ code: 'invalid_json' });
          return;
        }
        const read = await parse(text, { numbers: allowed });
        expect(JSON.stringify(read)).toBe(JSON.stringify(expected));
        expect(read).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has no more values than are allowed, but for the numbers with which its lists begin', async () => {
    const zeros = (count: number): string => `[${Array.from({ length: count }, () => '0.25').join(',')}]`;
    const limits = { tokens: 10, numbers: 500 };
    expect(await parse(`[${zeros(500)},${zeros(500)}]`, limits)).toHaveLength(2);
    expect(await parse(zeros(509), limits)).toHaveLength(509);
    await expect(parse(zeros(510), limits)).rejects.toThrow(/more than 10 values/);
    await expect(parse(`[[],${zeros(400).slice(1)}`, limits)).rejects.toThrow(/more than 10 values/);
    await expect(parse(`[${'[],'.repeat(9)}[]]`, limits)).rejects.toThrow(/more than 10 values/);
    await expect(parse('['.repeat(66), LIMITS)).rejects.toThrow(/deeper than 64/);
  });

  it('lets the event loop turn, also while many are read', async () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ at })));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await Promise.all(Array.from({ length: 8 }, () => parse(text)));
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(8 * Math.floor(text.length / (32 * 1024)));
  });
});
