/** What every step planner has to keep, whatever it decides. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlannerPart } from '../../../contract/load.ts';
import { CostModel } from './cost-model.ts';
import { PlainPlanner } from '../planner-for.ts';
import {
  type DecodingSequence,
  type PlannedRow,
  type PrefillingSequence,
  rowCount,
  type StepPlan,
  type StepPlanner,
  type StepState,
} from './step-planner.ts';
import { TunedPlanner } from './tuned-planner.ts';

const NUM_CTX = 4096;
const MOST_ROWS = 512;
const PARTS = PlannerPart.anyOf.map((part) => part.const);

const tuned =
  (without: readonly PlannerPart[], sharesCells = true) =>
  (): StepPlanner =>
    new TunedPlanner({
      costs: new CostModel({ readsByTile: true }),
      numCtx: NUM_CTX,
      mostRows: MOST_ROWS,
      maxDraftTokens: 15,
      canCut: true,
      sharesCells,
      onGpu: false,
      without,
    });

const planners: readonly (readonly [string, () => StepPlanner])[] = [
  ['plain', () => new PlainPlanner()],
  ['tuned', tuned([])],
  ['tuned with a window per sequence', tuned([], false)],
  ...PARTS.map((part) => [`tuned without ${part}`, tuned([part])] as const),
  ['tuned without any part', tuned(PARTS)],
];

/** Each sequence of the context is idle, decoding or prefilling. */
const sequenceArbitrary = fc.record({
  is: fc.constantFrom('idle', 'decoding', 'prefilling'),
  position: fc.nat({ max: NUM_CTX - 600 }),
  remaining: fc.integer({ min: 1, max: 3000 }),
  arrivedMs: fc.nat({ max: 500 }),
  draftTokens: fc.nat({ max: 15 }),
  draftHitRate: fc.double({ min: 0, max: 1, noNaN: true }),
});

const stateArbitrary = fc
  .array(sequenceArbitrary, { minLength: 1, maxLength: 20 })
  .map((sequences): StepState => {
    const all = sequences.map((fields, sequence) => ({ ...fields, sequence, firstTokenMs: 600 }));
    return {
      nowMs: 1_000,
      decoding: all.filter(({ is }) => is === 'decoding'),
      prefilling: all.filter(({ is }) => is === 'prefilling'),
    };
  });

/** Calls of any speed, so that every cost has been learnt. */
const historyArbitrary = fc.array(
  fc.record({
    phase: fc.constantFrom('decode' as const, 'prefill' as const),
    rows: fc.integer({ min: 1, max: 64 }),
    ms: fc.double({ min: 0.1, max: 20_000, noNaN: true }),
  }),
  { maxLength: 12 },
);

type History = readonly {
  readonly phase: 'decode' | 'prefill';
  readonly rows: number;
  readonly ms: number;
}[];

function experienced(make: () => StepPlanner, history: History): StepPlanner {
  const planner = make();
  for (const { phase, rows, ms } of history) {
    const decoded = Array.from({ length: rows }, (_, sequence) => row('decode', sequence, 1));
    planner.observe({ phase, rows: phase === 'decode' ? decoded : [row('prefill', 0, rows)], ms });
  }
  return planner;
}

const row = (kind: PlannedRow['kind'], sequence: number, tokens: number): PlannedRow => ({
  kind,
  sequence,
  position: 10,
  tokens,
  padding: 0,
});

const total = (rows: readonly PlannedRow[]): number => rows.reduce((sum, each) => sum + rowCount(each), 0);

const allRows = ({ calls }: StepPlan): PlannedRow[] => calls.flatMap(({ rows }) => rows);

describe.each(planners)('the %s planner', (_, make) => {
  const holds = (check: (plan: StepPlan, state: StepState) => void): void =>
    fc.assert(
      fc.property(historyArbitrary, stateArbitrary, (history, state) =>
        check(experienced(make, history).plan(state), state),
      ),
    );

  it('plans every decoding sequence exactly once', () =>
    holds((plan, state) => {
      const planned = allRows(plan).filter(({ kind }) => kind === 'decode');
      expect(planned.map(({ sequence }) => sequence)).toEqual(state.decoding.map(({ sequence }) => sequence));
    }));

  it('plans no sequence twice, no empty call, and each call in ascending order', () =>
    holds((plan) => {
      for (const { rows } of plan.calls) {
        const ids = rows.map(({ sequence }) => sequence);
        expect(ids.length).toBeGreaterThan(0);
        expect(ids).toEqual([...ids].sort((a, b) => a - b));
      }
      const all = allRows(plan).map(({ sequence }) => sequence);
      expect(new Set(all).size).toBe(all.length);
    }));

  it('plans one call that prefills at most, after all that decode, and expects a time for each', () =>
    holds(({ calls }) => {
      const phases = calls.map(({ phase }) => phase);
      expect(phases.lastIndexOf('decode')).toBeLessThan(
        phases.includes('prefill') ? phases.length - 1 : phases.length,
      );
      expect(phases.filter((phase) => phase === 'prefill').length).toBeLessThanOrEqual(1);
      for (const { expectedMs } of calls) expect(expectedMs).toBeGreaterThanOrEqual(0);
    }));

  it('plans at most the rows of one native call, and none beyond the context', () =>
    holds((plan, state) => {
      for (const { rows } of plan.calls) expect(total(rows)).toBeLessThanOrEqual(MOST_ROWS);
      const positions = new Map(
        [...state.decoding, ...state.prefilling].map(({ sequence, position }) => [sequence, position]),
      );
      for (const row of allRows(plan)) {
        expect(row.position).toBe(positions.get(row.sequence));
        if (row.padding > 0) expect(row.position + rowCount(row)).toBeLessThanOrEqual(NUM_CTX);
      }
    }));

  it('drafts no more than there is, and prefills no more than remains', () =>
    holds((plan, state) => {
      const found = <T extends { readonly sequence: number }>(all: readonly T[], id: number): T | undefined =>
        all.find(({ sequence }) => sequence === id);
      for (const { kind, sequence, tokens } of allRows(plan)) {
        if (kind === 'decode')
          expect(tokens - 1).toBeLessThanOrEqual(found(state.decoding, sequence)?.draftTokens ?? -1);
        if (kind === 'prefill') {
          expect(tokens).toBeGreaterThan(0);
          expect(tokens).toBeLessThanOrEqual(found(state.prefilling, sequence)?.remaining ?? 0);
        }
      }
    }));

  it('prefills something whenever a prompt waits', () =>
    holds((plan, state) => {
      const chunks = allRows(plan).filter(({ kind }) => kind === 'prefill');
      expect(chunks.length > 0).toBe(state.prefilling.length > 0);
    }));

  it('brings every prompt to its end while streams decode and short prompts keep arriving', () => {
    const planner = make();
    const stream: DecodingSequence = {
      sequence: 0,
      position: 10,
      arrivedMs: 0,
      firstTokenMs: 0,
      draftTokens: 0,
      draftHitRate: 0,
    };
    let long: PrefillingSequence = { sequence: 1, position: 0, remaining: 1_000, arrivedMs: 0 };
    for (let step = 0; step < 400 && long.remaining > 0; step += 1) {
      const short: PrefillingSequence = { sequence: 2, position: 0, remaining: 20, arrivedMs: step * 50 };
      const prefilling = [long, short];
      const plan = planner.plan({ nowMs: step * 50, decoding: [stream], prefilling });
      for (const { phase, rows } of plan.calls) planner.observe({ phase, rows, ms: 4 * total(rows) });
      const chunk = allRows(plan).find(({ sequence }) => sequence === 1)?.tokens ?? 0;
      long = { ...long, position: long.position + chunk, remaining: long.remaining - chunk };
    }
    expect(long.remaining).toBe(0);
  });
});
