import { describe, expect, it } from 'vitest';
import {
  type CellHolder,
  cellsOutsideRunning,
  evictedFor,
  costOfCells,
  idleAboveRunning,
  type Tenant,
} from './kv-cells.ts';
import type { ChatModel } from '../../model.ts';
import type { NativeContext } from '../../native.ts';
import { CostModel } from '../planning/cost-model.ts';
import type { Tiers } from '../tiers/tiers.ts';
import { Sequences } from './sequences.ts';

const holder = (id: number, length: number, busy = false, lastUsed = id): CellHolder => ({
  id,
  tokens: { length },
  busy,
  lastUsed,
});

describe('cells that sequences share', () => {
  it('need no eviction while enough are free', () => {
    expect(evictedFor(10, 100, [holder(0, 50, true), holder(1, 40)])).toEqual([]);
  });

  it('come from the idle sequence that was used longest ago', () => {
    const holders = [holder(0, 30, true), holder(1, 30, false, 9), holder(2, 30, false, 4)];
    expect(evictedFor(20, 100, holders)).toEqual([2]);
    expect(evictedFor(60, 100, holders)).toEqual([2, 1]);
  });

  it('come first from state that is cheap to have again', () => {
    const holders = [holder(0, 30, true), holder(1, 30, false, 9), holder(2, 30, false, 4)];
    const kept = (cheap: number) => (each: CellHolder) => (each.id === cheap ? 0.1 : 1);
    expect(evictedFor(20, 100, holders, kept(1))).toEqual([1]);
    expect(evictedFor(20, 100, holders, kept(2))).toEqual([2]);
  });

  it('are never taken from a running answer', () => {
    expect(evictedFor(41, 100, [holder(0, 60, true), holder(1, 30)])).toBeNull();
    expect(evictedFor(40, 100, [holder(0, 60, true), holder(1, 30)])).toEqual([1]);
  });

  it('leave for a new prompt what running answers do not hold', () => {
    expect(cellsOutsideRunning(100, [holder(0, 60, true), holder(1, 30)])).toBe(40);
  });
});

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
    expect(idsOf(idleAboveRunning(all, 0))).toEqual([2, 1]);
  });

  it('is no state that lies before what runs: the last cell stays where it is', () => {
    const tenants = [tenant(0, 0, 0, true), tenant(1, 100, 1), tenant(2, 50, 2, true), tenant(3, 100, 3)];
    expect(idsOf(idleAboveRunning(tenants, 0))).toEqual([3]);
    // The job itself goes on where its state lies.
    expect(
      idsOf(idleAboveRunning([tenant(0, 500, 2, true), tenant(1, 100, 1), tenant(2, 70, 3)], 0)),
    ).toEqual([2]);
  });

  it('is the conversation too whose beginning the job copied, as its own state comes behind that', () => {
    expect(idsOf(idleAboveRunning([tenant(0, 30, 0, true), tenant(1, 900, 1), tenant(2, 70, 2)], 0))).toEqual(
      [1, 2],
    );
  });
});

it('what cells cost is paid by each row of an answer, and in part by each row of a prompt', () => {
  expect(costOfCells(1_000, { promptTokens: 640, answerTokens: 90 }, 0.01)).toBeCloseTo(2_500);
});

describe('a job that begins', () => {
  function sequencesWith(setAside: Tiers['setAside']) {
    const cleared: number[] = [];
    const context: Partial<NativeContext> = {
      sequenceBytes: () => 1_000_000,
      cutSequence: () => true,
      clearSequence: (id) => void cleared.push(id),
      copySequence: () => undefined,
    };
    const facts = { sequences: 3, contextBytes: 1_000 };
    const chat = { context, facts, prefixReuse: 'full', sharedCells: 4_096 } as ChatModel;
    const tiers: Partial<Tiers> = { setAside, leave: () => {}, missing: () => 0 };
    const costs = new CostModel({ bytesPerCell: 150_000 });
    const sequences = new Sequences(chat, costs, tiers as Tiers);
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
    expect(asked).toEqual([
      { id: 0, gainMs: expect.closeTo(300), othersDecode: false },
      { id: 1, gainMs: expect.closeTo(200), othersDecode: false },
    ]);
    expect(cleared).toEqual([1]);
    expect([sequences.held(0), sequences.held(1)]).toEqual([300, 0]);
  });

  it('empties them as well where it begins as one of them does', () => {
    const { sequences } = sequencesWith(() => true);
    sequences.take({ id: 2, keep: 30, copyFrom: 0, copyWorthTokens: 1, continues: false }, '');
    sequences.setAside(2, { promptTokens: 500, answerTokens: 100 });
    expect([0, 1, 2].map((id) => sequences.held(id))).toEqual([0, 0, 30]);
  });
});
