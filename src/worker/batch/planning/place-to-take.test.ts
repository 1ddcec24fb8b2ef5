import { describe, expect, it } from 'vitest';
import { placeToTake } from './place-to-take.ts';

/** As measured on two cores with a large model: runs of four rows cost two single rows. */
const cost = {
  waiting: 1,
  rowMs: 4,
  stepMs: (rows: number) => (rows <= 1 ? 33 : 24 + 10 * rows),
  fills: true,
};
const sequence = (id: number, tokens: number, lastUsed: number) => ({
  id,
  tokens: Array.from({ length: tokens }, () => 1),
  lastUsed,
});
const nothing = () => 0;

describe('placeToTake', () => {
  it('takes what is empty first, then the least recently used', () => {
    const free = [sequence(0, 100, 9), sequence(1, 0, 99), sequence(2, 0, 0)];
    expect(placeToTake(free, [], nothing, { ...cost, waiting: 1 }).id).toBe(2);
    expect(placeToTake([sequence(0, 100, 9), sequence(1, 100, 5)], [], nothing, cost).id).toBe(1);
  });

  it('stands beside a stream that decodes when what is lost there is little', () => {
    const free = [sequence(1, 100, 8), sequence(2, 100, 1), sequence(3, 100, 2)];
    expect(placeToTake(free, [0], nothing, cost).id).toBe(1);
  });

  it('leaves a long conversation alone that was just used', () => {
    const free = [sequence(1, 4000, 8), sequence(2, 100, 1), sequence(3, 100, 2)];
    expect(placeToTake(free, [0], nothing, cost).id).toBe(2);
  });

  it('keeps the places of prompts that wait together next to each other', () => {
    const used = [9, 5, 6, 7, 8, 1, 2, 3];
    const free = used.map((lastUsed, id) => sequence(id, 100, lastUsed));
    const busy: number[] = [];
    for (let waiting = 4; waiting > 0; waiting--) {
      const idle = free.filter(({ id }) => !busy.includes(id));
      busy.push(placeToTake(idle, busy, nothing, { ...cost, waiting }).id);
    }
    expect(busy.sort((a, b) => a - b)).toEqual([4, 5, 6, 7]);
  });

  it('prefers a state that is nothing but the beginning of the prompt', () => {
    const free = [sequence(0, 0, 0), sequence(1, 50, 5)];
    expect(placeToTake(free, [], ({ tokens }) => tokens.length, cost).id).toBe(1);
  });

  it('does not count a gap that a filler closes', () => {
    const free = [sequence(2, 300, 9), sequence(3, 0, 0), sequence(4, 0, 0)];
    const groups = { ...cost, stepMs: (rows: number) => [0, 33, 44, 66, 65, 98][rows] ?? 99 };
    expect(placeToTake(free, [0, 1], nothing, groups).id).toBe(3);
    expect(placeToTake(free, [0, 1], nothing, { ...groups, fills: false, rowMs: 2 }).id).toBe(2);
  });

  it('takes any place when more prompts wait than there are places', () => {
    expect(placeToTake([sequence(3, 10, 1)], [0, 1, 2], nothing, { ...cost, waiting: 9 }).id).toBe(3);
  });
});
