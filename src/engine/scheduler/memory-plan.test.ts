import { describe, expect, it } from 'vitest';
import type { LoadSize, Memory } from '../ports.ts';
import { bestPlan, type Wish } from './memory-plan.ts';

/** 1,000 bytes of weights, one a cell, on the only device. */
const need = ({ cells }: LoadSize): Memory => [{ device: 'CPU', bytes: 1_000 + cells }];
const plan = (wish: Partial<Wish>, bytes: number) =>
  bestPlan({ need, wantedCtx: 4_096, slots: null, below: null, ...wish }, [{ device: 'CPU', bytes }]);

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
    const wish = { need: onBoth, wantedCtx: 4_096, slots: null, below: null };
    expect(bestPlan(wish, free)).toMatchObject({ numCtx: 2_048 });
    expect(bestPlan(wish, free.slice(0, 1))).toBeNull();
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
