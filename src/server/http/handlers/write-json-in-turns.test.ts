import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLarge, writeJsonInTurns } from './write-json-in-turns.ts';

describe('an answer that is written in turns', () => {
  it('has the bytes that JSON.stringify writes', async () => {
    const leaf = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.date());
    // Lists so long that they are written in parts, at any depth.
    const long = leaf.map((value) => Array.from({ length: 5_000 }, () => value));
    const member = fc.oneof(leaf, long, fc.array(fc.oneof(leaf, long), { maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), member, { maxKeys: 6 }), async (inner) => {
        const value = { inner, list: [inner, undefined] };
        expect((await writeJsonInTurns(value)).toString()).toBe(JSON.stringify(value));
      }),
      { numRuns: 40 },
    );
  });

  const vectors = Array.from({ length: 200 }, () => Array.from({ length: 768 }, Math.random));
  it.each([
    ['in a list', { object: 'list', data: vectors }],
    ['deep inside', { choices: [{ logprobs: { content: vectors.map((top) => ({ top })) } }] }],
  ])('lets the event loop turn where there is much %s', async (_, value) => {
    expect(isLarge(value)).toBe(true);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const bytes = await writeJsonInTurns(value);
    clearImmediate(next);
    expect(bytes.toString()).toBe(JSON.stringify(value));
    expect(turns).toBeGreaterThan(10);
  });
});
