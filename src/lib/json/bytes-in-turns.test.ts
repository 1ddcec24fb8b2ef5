import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { isUtf8InTurns, joinedInTurns } from './bytes-in-turns.ts';

const MIB = 1024 * 1024;
const SLICE = 4 * MIB;

describe('parts of a large body', () => {
  it.each([0, 1, 7])('are joined, %d of them', async (count) => {
    const parts = Array.from({ length: count }, (_, index) => Buffer.alloc(3 * MIB + index, index + 1));
    const whole = Buffer.concat(parts);
    expect((await joinedInTurns([...parts], whole.length)).equals(whole)).toBe(true);
  });

  it('leave turns to others', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await joinedInTurns(
      Array.from({ length: 64 }, () => Buffer.alloc(MIB)),
      64 * MIB,
    );
    const ofJoining = turns;
    await isUtf8InTurns(Buffer.alloc(64 * MIB, 0x20));
    clearImmediate(next);
    expect([ofJoining, turns - ofJoining].map((each) => each >= 10)).toEqual([true, true]);
  });
});

describe('a large text', () => {
  const characters = ['a', 'é', '€', '😀'].map((text) => Buffer.from(text));

  it('is UTF-8 wherever a slice would cut it', async () => {
    for (const character of characters) {
      for (let before = 0; before <= character.length; before += 1) {
        const bytes = Buffer.concat([
          Buffer.alloc(SLICE - before, 0x61),
          character,
          character,
          Buffer.from('z'),
        ]);
        expect(await isUtf8InTurns(bytes), `${character} ${before}`).toBe(true);
      }
    }
  });

  it('is not where a character is broken, at any place', async () => {
    const broken = [[0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xff], [0x80, 0x80, 0x80, 0x80, 0x80]];
    for (const bytes of broken) {
      for (let before = 0; before <= 6; before += 1) {
        const whole = Buffer.concat([
          Buffer.alloc(SLICE - before, 0x61),
          Buffer.from(bytes),
          Buffer.from('zzzz'),
        ]);
        expect(await isUtf8InTurns(whole), `${bytes.join()} ${before}`).toBe(isUtf8(whole));
      }
    }
  });
});
