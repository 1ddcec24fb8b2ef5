/** Whatever waits: nothing is lost or doubled, limits hold, lengths do not mix, and no job waits for a long list. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeStep } from './step-inputs.ts';

interface Input {
  readonly name: string;
  readonly tokens: { readonly length: number };
}

const LIMITS = [
  { longest: 63, sequences: 4, tokens: 128 },
  { longest: 2_000, sequences: 3, tokens: 256 },
];

const lengths = fc.oneof(
  fc.integer({ min: 1, max: 70 }),
  fc.constantFrom(63, 64, 128, 256, 257),
  fc.integer({ min: 1, max: 2_000 }),
);
const jobs = fc.array(fc.array(lengths, { maxLength: 12 }), { maxLength: 6 });

function sourcesOf(lists: readonly (readonly number[])[]) {
  return lists.map((list, job) => ({
    job,
    inputs: list.map((length, at): Input => ({ name: `${job}.${at}`, tokens: { length } })),
  }));
}

function allSteps(lists: readonly (readonly number[])[]) {
  const queue = sourcesOf(lists);
  const steps = [];
  for (let step = takeStep(queue, LIMITS); step !== null; step = takeStep(queue, LIMITS)) steps.push(step);
  return steps;
}

describe('takeStep', () => {
  it('takes every input once', () => {
    fc.assert(
      fc.property(jobs, (lists) => {
        const taken = allSteps(lists).flatMap(({ inputs }) => inputs.map(({ input }) => input.name));
        const all = sourcesOf(lists).flatMap(({ inputs }) => inputs.map(({ name }) => name));
        expect(taken.toSorted()).toEqual(all.toSorted());
      }),
    );
  });

  it('keeps to the limits that the length of each input has, unless one input alone is longer', () => {
    fc.assert(
      fc.property(jobs, (lists) => {
        for (const { limits, inputs } of allSteps(lists)) {
          const sizes = inputs.map(({ input }) => input.tokens.length);
          expect(sizes.length).toBeGreaterThan(0);
          expect(sizes.length).toBeLessThanOrEqual(limits.sequences);
          for (const size of sizes) expect(LIMITS.find(({ longest }) => size <= longest)).toBe(limits);
          if (sizes.length > 1)
            expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limits.tokens);
        }
      }),
    );
  });

  it('computes an input of every waiting job within as many steps as there are jobs', () => {
    fc.assert(
      fc.property(jobs, (lists) => {
        const waiting = lists.filter((list) => list.length > 0).length;
        const first = allSteps(lists)
          .slice(0, waiting)
          .flatMap(({ inputs }) => inputs.map(({ source }) => source.job));
        expect(new Set(first).size).toBe(waiting);
      }),
    );
  });

  it('takes the input of the last job in turn that fills whole tiles of 16 rows', () => {
    const queue = sourcesOf([[86, 80, 92, 90, 85]]);
    const names = () => takeStep(queue, LIMITS)?.inputs.map(({ input }) => input.name);
    expect(names()).toEqual(['0.0', '0.3']);
    // 80 and 85 are 5 rows beyond ten tiles, 80 and 92 twelve.
    expect(names()).toEqual(['0.1', '0.4']);
    expect(names()).toEqual(['0.2']);
    expect(names()).toBeUndefined();
  });

  it('leaves fewer rows beyond whole tiles than taking inputs as they come', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 64, max: 120 }), { minLength: 32, maxLength: 64 }), (list) => {
        const beyond = allSteps([list]).map(
          ({ inputs }) => inputs.reduce((sum, { input }) => sum + input.tokens.length, 0) % 16,
        );
        const asTheyCome = list.length * 7.5 * 0.5;
        expect(beyond.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(asTheyCome);
      }),
    );
  });

  it('gives a job that was not reached its turn before those that were', () => {
    const queue = sourcesOf([[100, 100, 100], [200], [30]]);
    const names = () => takeStep(queue, LIMITS)?.inputs.map(({ input }) => input.name);
    expect(names()).toEqual(['0.0']);
    expect(names()).toEqual(['1.0']);
    expect(names()).toEqual(['2.0']);
    expect(names()).toEqual(['0.1', '0.2']);
    expect(names()).toBeUndefined();
  });
});
