import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../model.ts';
import type { NativeContext } from '../../native.ts';
import { PlainPlanner } from '../planning/plain-planner.ts';
import type { Tiers } from '../tiers/tiers.ts';
import { Sequences } from './sequences.ts';
import { CellPrice, costOfCells, inTheWay, type Tenant } from './set-aside.ts';

const tenant = (id: number, length: number, filled: number, busy = false): Tenant => ({
  id,
  tokens: { length },
  busy,
  filled,
});
const idsOf = (tenants: readonly Tenant[]) => tenants.map(({ id }) => id);

describe('what stands in the way of a job that begins', () => {
  it('is all idle state where nothing else runs, the largest first', () => {
    const all = [tenant(0, 0, 0, true), tenant(1, 100, 1), tenant(2, 900, 2), tenant(3, 0, 0)];
    expect(idsOf(inTheWay(all, 0))).toEqual([2, 1]);
  });

  it('is no state that lies before what runs: the last cell stays where it is', () => {
    const beside = [tenant(0, 0, 0, true), tenant(1, 100, 1), tenant(2, 50, 2, true), tenant(3, 100, 3)];
    expect(idsOf(inTheWay(beside, 0))).toEqual([3]);
    // The job itself goes on where its state lies.
    expect(idsOf(inTheWay([tenant(0, 500, 2, true), tenant(1, 100, 1), tenant(2, 70, 3)], 0))).toEqual([2]);
  });
});

describe('the price of a cell', () => {
  it('is what is believed of the bytes, until steps with more and fewer cells were seen', () => {
    const price = new CellPrice();
    expect(price.msPerCell(() => 15_000)).toBeCloseTo(0.001);
    price.observe(100, 20);
    price.observe(900, 28);
    expect(price.msPerCell(() => 15_000)).toBeCloseTo(0.001);
    for (let i = 0; i < 50; i += 1) for (const bin of [0, 1, 3]) price.observe(bin * 1_024, 20 + bin * 20);
    expect(price.msPerCell(() => 15_000)).toBeCloseTo(20 / 1_024, 2);
  });

  it('is never below nothing', () => {
    const price = new CellPrice();
    price.observe(0, 50);
    price.observe(8_000, 20);
    expect(price.msPerCell(() => 1)).toBe(0);
  });

  it('is paid by each row of an answer, and by each tile of a prompt', () => {
    expect(costOfCells(1_000, { promptTokens: 640, answerTokens: 90 }, 0.01)).toBeCloseTo(1_000);
  });
});

describe('a job that begins', () => {
  function sequencesWith(setAside: Tiers['setAside']) {
    const cleared: number[] = [];
    const context: Partial<NativeContext> = {
      sequenceBytes: () => 1_000_000,
      cutSequence: () => true,
      clearSequence: (id) => void cleared.push(id),
    };
    const facts = { sequences: 3, contextBytes: 1_000 };
    const chat = { context, facts, prefixReuse: 'full', sharedCells: 4_096 } as ChatModel;
    const tiers: Partial<Tiers> = { setAside, leave: () => {}, missing: () => 0 };
    const sequences = new Sequences(chat, new PlainPlanner(), tiers as Tiers);
    const begin = (id: number, tokens: number, step: number): void => {
      sequences.reserve(id, '');
      sequences.append(id, new Uint32Array(tokens));
      sequences.release(id, step);
    };
    begin(0, 300, 1);
    begin(1, 200, 2);
    cleared.length = 0;
    sequences.reserve(2, '');
    return { sequences, cleared };
  }

  it('empties what the tiers take, told what it would cost and whether anybody reads an answer', () => {
    const asked: unknown[] = [];
    const { sequences, cleared } = sequencesWith(({ id }, terms) => {
      asked.push({ id, ...terms });
      return id === 1;
    });
    sequences.setAside(2, { promptTokens: 0, answerTokens: 100 });
    const believedMs = (100 * 1_000_000) / 15_000_000;
    expect(asked).toEqual([
      { id: 0, gainMs: expect.closeTo(believedMs), othersDecode: false },
      { id: 1, gainMs: expect.closeTo(believedMs), othersDecode: false },
    ]);
    expect(cleared).toEqual([1]);
    expect([sequences.held(0), sequences.held(1)]).toEqual([300, 0]);
  });
});
