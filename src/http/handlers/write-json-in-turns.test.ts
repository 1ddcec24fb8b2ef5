import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJsonInTurns } from './write-json-in-turns.ts';

describe('an answer that is written in turns', () => {
  it('has the bytes that JSON.stringify writes', async () => {
    const member = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.jsonValue()));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), member), async (value) => {
        expect((await writeJsonInTurns(value)).toString()).toBe(JSON.stringify(value));
      }),
    );
  });

  it('lets the event loop turn', async () => {
    const value = {
      object: 'list',
      data: Array.from({ length: 200 }, () => Array.from({ length: 768 }, Math.random)),
    };
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
