import { describe, expect, it } from 'vitest';
import { cheapestSequence } from './sequence-choice.ts';
import type { FreeSequence } from './step-planner.ts';

/** As measured on two cores with a large model: runs of four rows cost two single rows. */
const costs = {
  prefillMsPerToken: 4,
  stepMs: (rows: number) => (rows <= 1 ? 33 : 24 + 10 * rows),
  fills: true,
};
const sequence = (id: number, cachedTokens: number, lastUsed: number): FreeSequence => ({
  sequence: id,
  cachedTokens,
  sharedTokens: 0,
  lastUsed,
});

describe('cheapestSequence', () => {
  it('takes an empty sequence first, then the least recently used', () => {
    const free = [sequence(0, 100, 9), sequence(1, 0, 99), sequence(2, 0, 0)];
    expect(cheapestSequence({ free, busy: [], waiting: 1 }, costs)).toBe(2);
    const used = [sequence(0, 100, 9), sequence(1, 100, 5)];
    expect(cheapestSequence({ free: used, busy: [], waiting: 1 }, costs)).toBe(1);
  });

  it('takes the neighbour of a stream that decodes when little state is evicted there', () => {
    const free = [sequence(1, 100, 8), sequence(2, 100, 1), sequence(3, 100, 2)];
    expect(cheapestSequence({ free, busy: [0], waiting: 1 }, costs)).toBe(1);
  });

  it('leaves a long conversation alone that was just used', () => {
    const free = [sequence(1, 4000, 8), sequence(2, 100, 1), sequence(3, 100, 2)];
    expect(cheapestSequence({ free, busy: [0], waiting: 1 }, costs)).toBe(2);
  });

  it('keeps prompts that wait together on neighbouring ids', () => {
    const used = [9, 5, 6, 7, 8, 1, 2, 3];
    const all = used.map((lastUsed, id) => sequence(id, 100, lastUsed));
    const busy: number[] = [];
    for (let waiting = 4; waiting > 0; waiting -= 1) {
      const free = all.filter(({ sequence: id }) => !busy.includes(id));
      busy.push(cheapestSequence({ free, busy, waiting }, costs));
    }
    expect(busy.sort((a, b) => a - b)).toEqual([4, 5, 6, 7]);
  });

  it('prefers state that is nothing but the beginning of the prompt', () => {
    const free = [sequence(0, 0, 0), { ...sequence(1, 50, 5), sharedTokens: 50 }];
    expect(cheapestSequence({ free, busy: [], waiting: 1 }, costs)).toBe(1);
  });

  it('does not count a gap that a filler closes', () => {
    const free = [sequence(2, 300, 9), sequence(3, 0, 0), sequence(4, 0, 0)];
    const question = { free, busy: [0, 1], waiting: 1 };
    const groups = { ...costs, stepMs: (rows: number) => [0, 33, 44, 66, 65, 98][rows] ?? 99 };
    expect(cheapestSequence(question, groups)).toBe(3);
    expect(cheapestSequence(question, { ...groups, fills: false, prefillMsPerToken: 2 })).toBe(2);
  });

  it('takes any free sequence when more prompts wait than there are', () => {
    const question = { free: [sequence(3, 10, 1)], busy: [0, 1, 2], waiting: 9 };
    expect(cheapestSequence(question, costs)).toBe(3);
  });
});
