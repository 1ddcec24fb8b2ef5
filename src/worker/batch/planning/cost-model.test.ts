import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttentionKind, type Call, CostModel } from './cost-model.ts';
import { COSTS, PLAIN_ATTENTION } from './tuning.ts';

let costs: CostModel;
beforeEach(() => {
  costs = new CostModel({ readsByTile: true });
});

const decode = (rows: number, cells = 0): Call => ({ phase: 'decode', rows, cells });
const prompt = (rows: number, cells = 0): Call => ({ phase: 'prefill', rows, cells });

function observe(call: Call, ms: number, times = 1): void {
  for (let i = 0; i < times; i += 1) costs.observe(call, ms);
}

describe('a decode call', () => {
  it('is counted in calls of one row until one was seen', () => {
    expect(costs.rowMs(0)).toBeNull();
    expect(costs.predict(decode(1))).toBe(1);
    expect(costs.predict(decode(3))).toBeCloseTo(1 + 2 * COSTS.assumedExtraRow);
  });

  it('takes what was seen, on a line between neighbours, and assumed rows more beyond them', () => {
    observe(decode(2), 50);
    observe(decode(6), 70);
    expect(costs.rowMs(0)).toBeNull();
    expect([1, 2, 3, 4, 6].map((rows) => costs.predict(decode(rows)))).toEqual([50, 50, 55, 60, 70]);
    expect(costs.predict(decode(9))).toBeCloseTo(70 * (1 + COSTS.assumedExtraRow / 2));
  });

  it('is not believed slow after one slow call, and is after some', () => {
    observe(decode(1), 40, 6);
    observe(decode(1), 900);
    expect(costs.rowMs(0)).toBeCloseTo(40);
    observe(decode(1), 80, COSTS.recentCalls);
    expect(costs.rowMs(0)).toBeCloseTo(80);
    observe(decode(1), 40, COSTS.recentCalls);
    expect(costs.rowMs(0)).toBeCloseTo(40);
  });

  it('of several rows is forgotten where it was not seen for long, and one of one row is not', () => {
    observe(decode(1), 40);
    observe(decode(8), 400);
    observe(decode(2), 50, COSTS.choiceForgottenAfter - 1);
    expect(costs.predict(decode(8))).toBe(400);
    observe(decode(2), 50);
    expect(costs.predict(decode(8))).toBeCloseTo(50 * (1 + 3 * COSTS.assumedExtraRow));
    expect(costs.rowMs(0)).toBe(40);
  });
});

describe('a call of prompt rows', () => {
  it('takes an assumed time a row until one was seen', () => {
    expect(costs.promptRowMs).toBeNull();
    expect(costs.predict(prompt(10))).toBe(10 * costs.promptMsPerToken);
  });

  it('takes as long a row as the last ones, in a tile no longer than among fewer', () => {
    observe(prompt(16), 16 * 4, 3);
    expect(costs.predict(prompt(128))).toBeCloseTo(128 * 4);
    observe(prompt(64), 64 * 3, 3);
    expect([costs.predict(prompt(32)), costs.predict(prompt(128))]).toEqual([32 * 4, 128 * 3]);
    observe(prompt(16), 16 * 2, COSTS.recentCalls);
    expect(costs.predict(prompt(128))).toBeCloseTo(128 * 2);
    expect(costs.promptRowMs).toBeCloseTo(2);
  });

  it('was slow once: the next ones show it', () => {
    observe(prompt(58), 58 * 30);
    observe(prompt(58), 58 * 3);
    expect(costs.promptRowMs).toBeCloseTo(3);
  });

  it('takes longer behind more cells, among fewer rows than a tile four times as much, where tiles are read at once', () => {
    for (let cells = 0; cells < 4_096; cells += 64) observe(prompt(64, cells), 64 * (3 + 0.003 * cells));
    const perRow = (rows: number, cells: number): number => costs.predict(prompt(rows, cells)) / rows;
    expect(perRow(64, 8_000)).toBeCloseTo(27, 0);
    expect(perRow(32, 2_000)).toBeCloseTo(3 + 2_000 * 0.003 * COSTS.sliceSteepness, 0);
    costs = new CostModel({ readsByTile: false });
    for (let cells = 0; cells < 4_096; cells += 64) observe(prompt(64, cells), 64 * (3 + 0.003 * cells));
    expect(perRow(32, 2_000)).toBeCloseTo(9, 0);
  });
});

describe('a cell', () => {
  const BYTES = 15_000;
  beforeEach(() => {
    costs = new CostModel({ bytesPerCell: BYTES });
  });

  it('costs what its bytes say until steps with many and with few of them were seen', () => {
    expect(costs.msPerCell).toBeCloseTo(0.001);
    observe(decode(1, 3_000), 130, 20);
    expect([costs.isCellMeasured, costs.msPerCell]).toEqual([false, expect.closeTo(0.001)]);
    observe(decode(1, 0), 31);
    expect([costs.isCellMeasured, costs.msPerCell]).toEqual([true, expect.closeTo(0.033, 2)]);
  });

  it('is not free because the machine was slow while there were few', () => {
    observe(decode(1, 0), 50, 20);
    observe(decode(1, 8_000), 20, 20);
    expect(costs.msPerCell).toBeCloseTo(0.001 * COSTS.leastSlopeShare, 6);
  });

  it('is learned from a growing conversation on any machine, whatever other programs do to one call in ten', () => {
    const machine = fc.record({
      startMs: fc.double({ min: 5, max: 200, noNaN: true }),
      msPerCell: fc.double({ min: 0.001, max: 0.1, noNaN: true }),
      noise: fc.array(fc.double({ min: 0, max: 0.1, noNaN: true }), { minLength: 50, maxLength: 50 }),
    });
    fc.assert(
      fc.property(machine, ({ startMs, msPerCell, noise }) => {
        const learned = new CostModel({ bytesPerCell: BYTES });
        const trueMs = (cells: number): number => startMs + msPerCell * cells;
        let call = 0;
        for (let cells = 0; cells < 6_000; cells += 1 + Math.floor(cells / 40)) {
          const slow = call % 10 === 9 ? 2 : 1 + (noise[call % noise.length] ?? 0);
          learned.observe(decode(1, cells), trueMs(cells) * slow);
          call += 1;
        }
        for (const cells of [3_000, 6_000, 8_000]) {
          const error = learned.predict(decode(1, cells)) / trueMs(cells) - 1;
          expect(Math.abs(error), `${cells} cells`).toBeLessThan(0.3);
        }
      }),
    );
  });
});

/** Two Intel cores, milliseconds by rows: bench/LOG.md, "attention by depth". */
const RECORDED: Readonly<Record<AttentionKind, Readonly<Record<number, readonly number[]>>>> = {
  flash: {
    16: [31, 40, 42, 66, 93],
    512: [50, 58, 70, 113, 181],
    2_048: [97, 129, 182, 306, 534],
    4_096: [166, 225, 331, 562, 999],
  },
  plain: {
    16: [35, 45, 50, 77, 109],
    512: [40, 53, 61, 94, 142],
    2_048: [56, 78, 95, 150, 238],
    4_096: [77, 111, 146, 225, 361],
  },
};
const ROWS = [1, 2, 4, 8, 16];

describe.each(['flash', 'plain'] as const)('recorded calls with %s attention', (attention) => {
  const recorded = (cells: number): readonly number[] => RECORDED[attention][cells] ?? [];

  it('are predicted at a depth that was not seen, from two others', () => {
    costs = new CostModel({ attention, bytesPerCell: 114_688 });
    for (const cells of [16, 2_048])
      for (const [at, ms] of recorded(cells).entries()) observe(decode(ROWS[at] ?? 0, cells), ms, 8);

    for (const cells of [512, 4_096]) {
      for (const [at, ms] of recorded(cells).entries()) {
        const error = costs.predict(decode(ROWS[at] ?? 0, cells)) / ms - 1;
        expect(Math.abs(error), `${ROWS[at]} rows, ${cells} cells`).toBeLessThan(0.25);
      }
    }
  });
});

describe('the other attention', () => {
  const plainly = (call: Call): number => costs.predict({ ...call, attention: 'plain' });

  it('takes measured shares of what this one takes, until it was seen', () => {
    const { flash, plain } = RECORDED;
    for (const cells of [16, 2_048]) observe(decode(1, cells), flash[cells]?.[0] ?? 0, 8);
    for (const cells of [16, 2_048, 4_096])
      expect(Math.abs(plainly(decode(1, cells)) / (plain[cells]?.[0] ?? 0) - 1)).toBeLessThan(0.3);
    observe(prompt(64), 300, 3);
    expect(plainly(prompt(64))).toBeCloseTo(300 * PLAIN_ATTENTION.start);
    costs.attention = 'plain';
    expect(costs.promptRowMs).toBeCloseTo((300 * PLAIN_ATTENTION.start) / 64);
    observe(decode(1, 2_048), 120, 3);
    expect(plainly(decode(1, 2_048))).toBeCloseTo(120);
    expect(costs.predict({ ...decode(1, 2_048), attention: 'flash' })).toBeCloseTo(97);
  });

  it('is forgotten after a long time with this one, which never is', () => {
    observe(decode(1, 2_000), 100, 3);
    costs.observe({ ...decode(1, 2_000), attention: 'plain' }, 900);
    expect(plainly(decode(1, 2_000))).toBeCloseTo(900);
    observe(prompt(64), 200, COSTS.forgottenAfter);
    expect(plainly(decode(1, 2_000))).toBeLessThan(200);
    expect(costs.predict(decode(1, 2_000))).toBeCloseTo(100);
  });
});

it('any call takes some time, whatever was seen', () => {
  const call = fc.record({
    phase: fc.constantFrom('decode' as const, 'prefill' as const),
    rows: fc.integer({ min: 1, max: 600 }),
    cells: fc.integer({ min: 0, max: 130_000 }),
    attention: fc.constantFrom('flash' as const, 'plain' as const),
  });
  const seen = fc.array(fc.tuple(call, fc.double({ min: 0.01, max: 30_000, noNaN: true })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(seen, call, fc.boolean(), (calls, asked, readsByTile) => {
      const learned = new CostModel({ readsByTile, bytesPerCell: 100_000 });
      for (const [each, ms] of calls) learned.observe(each, ms);
      const ms = learned.predict(asked);
      expect(ms).toBeGreaterThan(0);
      expect(Number.isFinite(ms)).toBe(true);
    }),
  );
});
