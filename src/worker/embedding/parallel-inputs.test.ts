/** How steps that are computed at the same time share the threads. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NativeContext } from '../native.ts';
import { ParallelInputs, type ParallelLimits, type Place } from './parallel-inputs.ts';

const limitsOf = (contexts: number): ParallelLimits => ({
  longest: 512,
  longestParallel: 256,
  sequences: 1,
  tokens: 1,
  parallel: Array.from({ length: contexts }, () => ({}) as NativeContext),
});
const stepOf = (limits: ParallelLimits, ...lengths: number[]) => ({
  limits,
  inputs: lengths.map((length) => ({ input: { tokens: { length } } })),
});

describe('a step', () => {
  it('gets all threads where it is alone, and shares them where others wait or compute', () => {
    const [running, limits] = [new ParallelInputs(2), limitsOf(2)];
    expect(running.takes(stepOf(limits, 20), 0)).toBe(false);
    expect(running.takes(stepOf(limits, 20), 1)).toBe(true);
    running.begin(limits, 1);
    expect(running.takes(stepOf(limits, 20), 0)).toBe(true);
  });

  it('of a long input, or of several, shares none', () => {
    const [running, limits] = [new ParallelInputs(2), limitsOf(2)];
    expect(running.takes(stepOf(limits, 256), 9)).toBe(true);
    expect(running.takes(stepOf(limits, 257), 9)).toBe(false);
    expect(running.takes(stepOf(limits, 20, 20), 9)).toBe(false);
  });

  it.each([
    ['one thread', 1, 4],
    ['contexts for one step', 4, 1],
    ['none', 4, 0],
  ])('is never beside another with %s', (_, threads, contexts) => {
    expect(new ParallelInputs(threads).takes(stepOf(limitsOf(contexts), 20), 9)).toBe(false);
  });
});

describe('steps at the same time', () => {
  it('have a context each, of whatever length they are', () => {
    const [running, short, long] = [new ParallelInputs(2), limitsOf(2), limitsOf(2)];
    const places = [running.begin(short, 5), running.begin(long, 4)];
    expect(new Set(places.map(({ context }) => context)).size).toBe(2);
    expect([running.hasRoom(short), running.hasRoom(long), running.steps]).toEqual([false, false, 2]);
    running.end(places[0] as Place);
    expect([running.hasRoom(short), running.steps]).toEqual([true, 1]);
    expect(running.begin(long, 0).context).not.toBe(places[1]?.context);
  });

  it.each([
    [8, 9, [2, 2, 2, 2]],
    [8, 3, [2, 3, 3]],
    [6, 4, [1, 1, 2, 2]],
    [3, 9, [1, 1, 1]],
    [2, 2, [1, 1]],
  ])('share %d threads among %d inputs as %j', (threads, inputs, shares) => {
    const [running, limits] = [new ParallelInputs(threads), limitsOf(4)];
    const found: number[] = [];
    for (let left = inputs - 1; left >= 0 && running.hasRoom(limits); left -= 1)
      found.push(running.begin(limits, left).threads);
    expect(found).toEqual(shares);
  });

  it('never take more threads than there are, whatever begins and ends', () => {
    const ends = fc.array(fc.record({ ends: fc.nat(), waiting: fc.nat({ max: 6 }) }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 32 }), ends, (threads, turns) => {
        const [running, limits] = [new ParallelInputs(threads), limitsOf(4)];
        const begun: Place[] = [];
        for (const { ends: at, waiting } of turns) {
          if (running.hasRoom(limits)) begun.push(running.begin(limits, waiting));
          else running.end(begun.splice(at % begun.length, 1)[0] as Place);
          const taken = begun.reduce((sum, place) => sum + place.threads, 0);
          expect(taken).toBeLessThanOrEqual(threads);
        }
      }),
    );
  });

  it('wait for a thread where the last one of a list has them all', () => {
    const [running, limits] = [new ParallelInputs(2), limitsOf(2)];
    expect(running.begin(limits, 0).threads).toBe(2);
    expect(running.hasRoom(limits)).toBe(false);
  });
});
