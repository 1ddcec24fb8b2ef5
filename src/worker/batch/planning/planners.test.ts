/** What every step planner has to keep, whatever it decides. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlannerPart } from '../../../contract/load.ts';
import { PlainPlanner } from './plain-planner.ts';
import type {
  DecodingSequence,
  PlannedRow,
  PrefillingSequence,
  StepPlanner,
  StepState,
} from './step-planner.ts';
import { TunedPlanner } from './tuned-planner.ts';

const NUM_CTX = 4096;
const MOST_ROWS = 512;
const PARTS = PlannerPart.anyOf.map((part) => part.const);

const tuned = (without: readonly PlannerPart[]) => (): StepPlanner =>
  new TunedPlanner({
    numCtx: NUM_CTX,
    mostRows: MOST_ROWS,
    maxDraftTokens: 15,
    canCut: true,
    onGpu: false,
    calibratedMs: null,
    without,
  });

const planners: readonly (readonly [string, () => StepPlanner])[] = [
  ['plain', () => new PlainPlanner()],
  ['tuned', tuned([])],
  ...PARTS.map((part) => [`tuned without ${part}`, tuned([part])] as const),
  ['tuned without any part', tuned(PARTS)],
];

/** Each sequence of the context is idle, decoding or prefilling. */
const sequenceArbitrary = fc.record({
  is: fc.constantFrom('idle', 'decoding', 'prefilling'),
  position: fc.nat({ max: NUM_CTX - 600 }),
  remaining: fc.integer({ min: 1, max: 3000 }),
  arrivedMs: fc.nat({ max: 500 }),
  answerTokens: fc.integer({ min: 1, max: 3 }),
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
      idle: all.filter(({ is }) => is === 'idle'),
    };
  });

/** Calls of any speed, so that every price has been learnt. */
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
  tokens,
  padding: 0,
});

const rowsOf = (rows: readonly PlannedRow[]): number =>
  rows.reduce((sum, { tokens, padding }) => sum + tokens + padding, 0);

describe.each(planners)('the %s planner', (_, make) => {
  const holds = (check: (planner: StepPlanner, state: StepState) => void): void =>
    fc.assert(
      fc.property(historyArbitrary, stateArbitrary, (history, state) =>
        check(experienced(make, history), state),
      ),
    );

  it('plans every decoding sequence exactly once, or none of them to prefill first', () =>
    holds((planner, state) => {
      const { decode, prefill } = planner.plan(state);
      const planned = [...decode, ...prefill].filter(({ kind }) => kind === 'decode');
      const sequences = planned.map(({ sequence }) => sequence);
      const expected = state.decoding.map(({ sequence }) => sequence);
      if (sequences.length === 0)
        expect(expected.length === 0 || prefill.length + decode.length > 0).toBe(true);
      else expect(sequences).toEqual(expected);
      expect(planned.every((entry) => decode.includes(entry))).toBe(true);
    }));

  it('plans no sequence twice, and each call in ascending order', () =>
    holds((planner, state) => {
      const { decode, prefill } = planner.plan(state);
      for (const call of [decode, prefill]) {
        const ids = call.map(({ sequence }) => sequence);
        expect(ids).toEqual([...ids].sort((a, b) => a - b));
      }
      const all = [...decode, ...prefill].map(({ sequence }) => sequence);
      expect(new Set(all).size).toBe(all.length);
    }));

  it('plans at most the rows of one native call, and none beyond the context', () =>
    holds((planner, state) => {
      const { decode, prefill } = planner.plan(state);
      expect(rowsOf(decode)).toBeLessThanOrEqual(MOST_ROWS);
      expect(rowsOf(prefill)).toBeLessThanOrEqual(MOST_ROWS);
      const positions = new Map(
        [...state.decoding, ...state.prefilling, ...state.idle].map(({ sequence, position }) => [
          sequence,
          position,
        ]),
      );
      for (const { sequence, tokens, padding } of [...decode, ...prefill].filter(
        (entry) => entry.padding > 0,
      ))
        expect((positions.get(sequence) ?? 0) + tokens + padding).toBeLessThanOrEqual(NUM_CTX);
    }));

  it('drafts no more than there is, fills idle sequences only, and prefills no more than remains', () =>
    holds((planner, state) => {
      const { decode, prefill } = planner.plan(state);
      const found = <T extends { readonly sequence: number }>(all: readonly T[], id: number): T | undefined =>
        all.find(({ sequence }) => sequence === id);
      for (const { kind, sequence, tokens } of [...decode, ...prefill]) {
        if (kind === 'filler') expect(found(state.idle, sequence)).toBeDefined();
        if (kind === 'decode')
          expect(tokens - 1).toBeLessThanOrEqual(found(state.decoding, sequence)?.draftTokens ?? -1);
        if (kind === 'prefill') {
          expect(tokens).toBeGreaterThan(0);
          expect(tokens).toBeLessThanOrEqual(found(state.prefilling, sequence)?.remaining ?? 0);
        }
      }
    }));

  it('prefills something whenever a prompt waits', () =>
    holds((planner, state) => {
      const { decode, prefill } = planner.plan(state);
      const chunks = [...decode, ...prefill].filter(({ kind }) => kind === 'prefill');
      expect(chunks.length > 0).toBe(state.prefilling.length > 0);
    }));

  it('brings every prompt to its end while streams decode and short prompts keep arriving', () => {
    const planner = make();
    const stream: DecodingSequence = {
      sequence: 0,
      position: 10,
      arrivedMs: 0,
      firstTokenMs: 0,
      answerTokens: 9,
      draftTokens: 0,
      draftHitRate: 0,
    };
    let long: PrefillingSequence = { sequence: 1, position: 0, remaining: 1_000, arrivedMs: 0 };
    for (let step = 0; step < 400 && long.remaining > 0; step += 1) {
      const short: PrefillingSequence = { sequence: 2, position: 0, remaining: 20, arrivedMs: step * 50 };
      const prefilling = [long, short];
      const plan = planner.plan({ nowMs: step * 50, decoding: [stream], prefilling, idle: [] });
      for (const call of [plan.decode, plan.prefill]) {
        const phase = call === plan.decode ? 'decode' : 'prefill';
        if (call.length > 0) planner.observe({ phase, rows: call, ms: 4 * rowsOf(call) });
      }
      const chunk = plan.prefill.find(({ sequence }) => sequence === 1)?.tokens ?? 0;
      long = { ...long, position: long.position + chunk, remaining: long.remaining - chunk };
    }
    expect(long.remaining).toBe(0);
  });

  it('chooses one of the free sequences', () => {
    const free = fc.record({
      cachedTokens: fc.nat({ max: NUM_CTX }),
      sharedTokens: fc.nat({ max: 500 }),
      lastUsed: fc.nat({ max: 9 }),
      busy: fc.boolean(),
    });
    const all = fc
      .array(free, { minLength: 1, maxLength: 8 })
      .filter((list) => list.some(({ busy }) => !busy));
    fc.assert(
      fc.property(all, fc.integer({ min: 1, max: 12 }), (sequences, waiting) => {
        const ids = sequences.map((fields, sequence) => ({ ...fields, sequence }));
        const idle = ids.filter(({ busy }) => !busy);
        const busy = ids.filter((entry) => entry.busy).map(({ sequence }) => sequence);
        const chosen = make().chooseSequence({ free: idle, busy, waiting });
        expect(idle.map(({ sequence }) => sequence)).toContain(chosen);
      }),
    );
  });
});
