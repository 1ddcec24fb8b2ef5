import { describe, expect, it } from 'vitest';
import { CostModel } from './cost-model.ts';
import type { PlannedRow } from './step-planner.ts';
import { padToTile } from './prefill-call.ts';

const NUM_CTX = 8_192;
const row = (position: number, tokens: number, sequence = 0): PlannedRow => ({
  kind: 'prefill',
  sequence,
  position,
  tokens,
  padding: 0,
});

/** A row takes twice as long at depths of 900 in a tile, and of 230 among fewer. */
function learned(): CostModel {
  const costs = new CostModel({ readsByTile: true });
  for (let cells = 0; cells < 4_000; cells += 64)
    costs.observe({ phase: 'prefill', rows: 64, cells }, 64 * 3.5 * (1 + cells / 900));
  return costs;
}

const paddings = (...rows: PlannedRow[]): number[] =>
  padToTile(rows, { costs: learned(), numCtx: NUM_CTX }).map(({ padding }) => padding);

describe('the end of a prompt', () => {
  it('fills a tile deep in a conversation, and not where its few rows read little', () => {
    expect(paddings(row(7_900, 33))).toEqual([31]);
    expect(paddings(row(7_900, 24))).toEqual([40]);
    expect(paddings(row(7_900, 23))).toEqual([0]);
    expect(paddings(row(1_536, 63))).toEqual([1]);
    expect(paddings(row(1_536, 10))).toEqual([0]);
    expect(paddings(row(0, 60))).toEqual([0]);
  });

  it('shares the tile with other prompts, and is never more than one', () => {
    expect(paddings(row(4_000, 20), row(100, 20, 1))).toEqual([0, 24]);
    expect(paddings(row(7_900, 64))).toEqual([0]);
    expect(paddings(row(7_900, 128))).toEqual([0]);
    expect(paddings()).toEqual([]);
  });

  it('stays within the window', () => {
    expect(paddings(row(NUM_CTX - 64, 33))).toEqual([31]);
    expect(paddings(row(NUM_CTX - 63, 33))).toEqual([0]);
  });
});
