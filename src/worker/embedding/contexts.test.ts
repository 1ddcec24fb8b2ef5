/** Which contexts an embedding model is opened with. */
import { describe, expect, it } from 'vitest';
import { toLoadOptions } from '../load/load-options.ts';
import { allContexts, embeddingContexts, embeddingWay } from './contexts.ts';

const OPTIONS = { ...toLoadOptions({}), tensorBuffers: [], adapterPaths: [], draftPath: null };
const CPU = { usesDevices: false, threads: 2 };
const GPU = { usesDevices: true, threads: 2 };

describe('inputs', () => {
  it.each([
    ['by themselves on a CPU, as many at a time as there are threads', {}, CPU, true, 2],
    ['four at a time at most', {}, { ...CPU, threads: 16 }, true, 4],
    ['one after the other with one thread', {}, { ...CPU, threads: 1 }, true, 1],
    ['together where a GPU may be used', {}, GPU, false, 1],
    ['by themselves there too if their user says so', { exactVectors: 'on' }, GPU, true, 1],
    ['together on a CPU if their user says so', { exactVectors: 'off' }, CPU, false, 1],
  ] as const)('are computed %s', (_, settings, machine, isExact, atOnce) => {
    expect(embeddingWay(settings, machine)).toEqual({ isExact, atOnce });
  });
});

describe('the contexts of a plan', () => {
  const planOf = (limit: number, way: { isExact: boolean; atOnce: number }) =>
    embeddingContexts(OPTIONS, { limit, threads: 2, way });

  it('of a long window are small beside each other, and leave the shared threads alone', () => {
    const [short, long] = planOf(8192, { isExact: true, atOnce: 2 });
    expect(short?.parallel.map(({ batchTokens }) => batchTokens)).toEqual([64, 64]);
    expect(long?.parallel.map(({ batchTokens }) => batchTokens)).toEqual([256, 256]);
    expect(long).toMatchObject({
      longestParallel: 256,
      tokens: 1,
      sequences: 1,
      options: { batchTokens: 8192 },
    });
    expect(long?.parallel.every(({ ownThreads, threads }) => ownThreads === true && threads === 1)).toBe(
      true,
    );
    expect([short?.options.ownThreads, long?.options.ownThreads]).toEqual([undefined, undefined]);
  });

  it('are no more than one for each length where nothing is computed at the same time', () => {
    expect(allContexts(planOf(512, { isExact: true, atOnce: 1 }))).toHaveLength(2);
    expect(allContexts(planOf(512, { isExact: false, atOnce: 1 }))).toHaveLength(2);
    expect(allContexts(planOf(512, { isExact: true, atOnce: 4 }))).toHaveLength(10);
  });

  it('take no input that is longer than the window', () => {
    const plans = planOf(100, { isExact: true, atOnce: 2 });
    expect(plans.map(({ longest, longestParallel }) => [longest, longestParallel])).toEqual([
      [63, 63],
      [100, 100],
    ]);
  });
});
