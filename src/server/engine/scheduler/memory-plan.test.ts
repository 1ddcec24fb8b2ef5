import { describe, expect, it } from 'vitest';
import type { LoadSize, Memory } from '../ports.ts';
import { bestPlan, necessaryPlan, type Wish } from './memory-plan.ts';

/** 1,000 bytes of weights, one a cell, on the only device. */
const need = ({ cells }: LoadSize): Memory => [{ device: 'CPU', bytes: 1_000 + cells }];
const plan = (wish: Partial<Wish>, bytes: number) =>
  bestPlan({ need, wantedCtx: 4_096, mostCtx: null, slots: null, below: null, ...wish }, [
    { device: 'CPU', bytes },
  ]);

describe('slots that share their cells', () => {
  it.each([
    ['a small window is given more cells', 1_024, 100_000, { numCtx: 1_024, slots: 8, cells: 8_192 }],
    ['but no more than suit eight usual chats', 4_096, 100_000, { numCtx: 4_096, slots: 8, cells: 16_384 }],
    ['a large window is shared by all', 32_768, 100_000, { numCtx: 32_768, slots: 8, cells: 32_768 }],
    [
      'one window is shared where more is not cheap',
      4_096,
      20_000,
      { numCtx: 4_096, slots: 8, cells: 4_096 },
    ],
    ['fewer slots where that is not cheap either', 4_096, 6_000, { numCtx: 4_096, slots: 4, cells: 4_096 }],
    ['half the window where it does not fit', 4_096, 4_000, { numCtx: 2_048, slots: 4, cells: 2_048 }],
  ])('%s', (_what, wantedCtx, bytes, expected) => {
    expect(plan({ wantedCtx }, bytes)).toMatchObject(expected);
  });

  it('pinned slots share as others do', () => {
    expect(plan({ slots: 2 }, 100_000)).toMatchObject({ slots: 2, cells: 8_192 });
  });

  it('every device has to suffice', () => {
    const onBoth = ({ cells }: LoadSize): Memory => [
      { device: 'CPU', bytes: 10 },
      { device: 'GPU0', bytes: cells },
    ];
    const free = [
      { device: 'CPU', bytes: 100 },
      { device: 'GPU0', bytes: 3_000 },
    ];
    const wish = { need: onBoth, wantedCtx: 4_096, mostCtx: null, slots: null, below: null };
    expect(bestPlan(wish, free)).toMatchObject({ numCtx: 2_048 });
    expect(bestPlan(wish, free.slice(0, 1))).toBeNull();
  });
});

const kib = 1_024;
const mib = 1_024 * kib;
const gib = 1_024 * mib;

/** The weights with the process, and f16 keys and values of one token. */
const shapes = {
  // Most layers of Gemma 3 270M slide over 512 tokens.
  small: { baseBytes: 400 * mib, cellBytes: 3 * kib },
  'dear KV cache': { baseBytes: 650 * mib, cellBytes: 112 * kib },
  '8 B': { baseBytes: 5 * gib, cellBytes: 128 * kib },
};

describe('a window that nobody set', () => {
  it.each<[keyof typeof shapes, number, number, number | null, object | null]>([
    // shape, trained window, free GiB, slots asked → window, slots, cells
    ['small', 32_768, 20, null, { numCtx: 32_768, slots: 8, cells: 32_768 }],
    ['small', 131_072, 20, null, { numCtx: 65_536, slots: 8, cells: 65_536 }],
    ['small', 131_072, 20, 1, { numCtx: 65_536, slots: 1, cells: 65_536 }],
    ['small', 131_072, 1, null, { numCtx: 32_768, slots: 8, cells: 32_768 }],
    ['small', 2_048, 20, null, { numCtx: 2_048, slots: 8, cells: 16_384 }],
    ['small', 1_024, 20, null, { numCtx: 1_024, slots: 8, cells: 8_192 }],
    ['dear KV cache', 40_960, 20, null, { numCtx: 16_384, slots: 8, cells: 16_384 }],
    ['dear KV cache', 40_960, 4, null, { numCtx: 16_384, slots: 4, cells: 16_384 }],
    ['dear KV cache', 40_960, 2, null, { numCtx: 8_192, slots: 4, cells: 8_192 }],
    ['dear KV cache', 40_960, 1, null, { numCtx: 2_048, slots: 4, cells: 2_048 }],
    ['dear KV cache', 40_960, 0.5, null, null],
    ['8 B', 131_072, 64, null, { numCtx: 32_768, slots: 8, cells: 32_768 }],
    ['8 B', 131_072, 14, null, { numCtx: 16_384, slots: 8, cells: 16_384 }],
    ['8 B', 131_072, 8, null, { numCtx: 16_384, slots: 4, cells: 16_384 }],
    ['8 B', 131_072, 6, null, { numCtx: 8_192, slots: 4, cells: 8_192 }],
    ['8 B', 131_072, 4, null, null],
  ])('%s, trained for %i, %d GiB free, %s slots: %o', (shape, trained, freeGib, slots, expected) => {
    const { baseBytes, cellBytes } = shapes[shape];
    const needs = ({ cells }: LoadSize): Memory => [{ device: 'CPU', bytes: baseBytes + cells * cellBytes }];
    const found = plan({ need: needs, wantedCtx: 0, mostCtx: trained, slots }, freeGib * gib);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  });

  it('is as large as a request asks for, and no smaller where that is cheap', () => {
    expect(plan({ wantedCtx: 20_000, mostCtx: 40_000 }, 100_000)).toMatchObject({ numCtx: 20_000 });
    expect(plan({ wantedCtx: 2_000, mostCtx: 40_000 }, 100_000)).toMatchObject({ numCtx: 16_384 });
  });

  it('is not worth an eviction beyond the least usual one', () => {
    const wish = { need, wantedCtx: 0, mostCtx: 40_000, slots: null, below: null };
    expect(necessaryPlan(wish, [{ device: 'CPU', bytes: 1e9 }])).toMatchObject({ numCtx: 4_096, slots: 4 });
  });
});

describe('after a load that ran out of memory', () => {
  const failed = (size: LoadSize) => ({ ...size, memory: need(size) });

  it('first the cells beyond one window go, then half the window', () => {
    const first = plan({ below: failed({ numCtx: 4_096, slots: 8, cells: 16_384 }) }, 100_000);
    expect(first).toMatchObject({ numCtx: 4_096, cells: 4_096 });
    expect(plan({ below: first }, 100_000)).toMatchObject({ numCtx: 2_048, cells: 2_048 });
  });

  it('at the least window half the slots go, and with one slot nothing is left', () => {
    const perSlot = ({ slots }: LoadSize): Memory => [{ device: 'CPU', bytes: 100 * slots }];
    const least = { numCtx: 512, slots: 4, cells: 512 };
    const wish = { need: perSlot, wantedCtx: 512 };
    expect(plan({ ...wish, below: { ...least, memory: perSlot(least) } }, 100_000)).toMatchObject({
      slots: 2,
    });
    const one = { ...least, slots: 1 };
    expect(plan({ ...wish, below: { ...one, memory: perSlot(one) } }, 100_000)).toBeNull();
  });
});
