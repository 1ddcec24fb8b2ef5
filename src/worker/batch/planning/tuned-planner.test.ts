import { describe, expect, it } from 'vitest';
import { CostModel } from './cost-model.ts';
import {
  type DecodingSequence,
  type EvaluatedCall,
  type PrefillingSequence,
  rowCount,
  type StepPlan,
  type StepState,
} from './step-planner.ts';
import { TunedPlanner, type TunedPlannerOptions } from './tuned-planner.ts';

function planner(options: Partial<TunedPlannerOptions> = {}): TunedPlanner {
  const costs = new CostModel();
  costs.observe({ phase: 'decode', rows: 1, cells: 0 }, 40);
  const made = new TunedPlanner({
    costs,
    numCtx: 4096,
    mostRows: 512,
    maxDraftTokens: 15,
    canCut: true,
    sharesCells: true,
    onGpu: false,
    without: [],
    ...options,
  });
  // A prompt was prefilled before, so that what its rows take is known.
  made.observe({ phase: 'prefill', rows: [prefillRow(0, 64)], ms: 200 });
  return made;
}

const prefillRow = (sequence: number, tokens: number): EvaluatedCall['rows'][number] => ({
  kind: 'prefill',
  sequence,
  position: 0,
  tokens,
  padding: 0,
});

const decodeRows = (...sequences: number[]): EvaluatedCall['rows'] =>
  sequences.map((sequence) => ({ kind: 'decode', sequence, position: 0, tokens: 1, padding: 0 }));

/** Calls of so many rows cost this much. */
function teach(made: TunedPlanner, ms: Readonly<Record<number, number>>): TunedPlanner {
  for (const [rows, each] of Object.entries(ms)) {
    for (let call = 0; call < 6; call += 1)
      made.observe({ phase: 'decode', rows: decodeRows(...Array(Number(rows)).keys()), ms: each });
  }
  return made;
}

const prefilling = (sequence: number, position: number, remaining: number): PrefillingSequence => ({
  sequence,
  position,
  remaining,
  arrivedMs: 0,
});

const decoding = (sequence: number, more: Partial<DecodingSequence> = {}): DecodingSequence => ({
  sequence,
  position: 100,
  arrivedMs: 0,
  firstTokenMs: 0,
  draftTokens: 0,
  draftHitRate: 0,
  ...more,
});

const drafting = (sequence: number, more: Partial<DecodingSequence> = {}): DecodingSequence =>
  decoding(sequence, { draftTokens: 15, draftHitRate: 1, ...more });

const state = (fields: Partial<StepState>): StepState => ({
  nowMs: 10_000,
  decoding: [],
  prefilling: [],
  ...fields,
});

/** Sequence and rows, padding included, of each call. */
const shape = ({ calls }: StepPlan) => {
  const of = (phase: StepPlan['calls'][number]['phase']) =>
    calls
      .filter((call) => call.phase === phase)
      .map(({ rows }) => rows.map((row) => [row.sequence, rowCount(row)]));
  return { decode: of('decode'), prefill: of('prefill').flat() };
};

const rowsIn = ({ rows }: StepPlan['calls'][number]) => rows.reduce((sum, row) => sum + rowCount(row), 0);

const planOf = (options: Partial<TunedPlannerOptions>, fields: Partial<StepState>) =>
  shape(planner(options).plan(state(fields)));

describe('the tuned planner', () => {
  it('keeps decode rows and chunks apart, but a prompt of one token with the decode rows', () => {
    const fields = {
      decoding: [decoding(0), decoding(1)],
      prefilling: [prefilling(2, 50, 1), prefilling(3, 0, 30)],
    };
    expect(planOf({}, fields)).toEqual({
      decode: [
        [
          [0, 1],
          [1, 1],
          [2, 1],
        ],
      ],
      prefill: [[3, 30]],
    });
  });

  it('gives a stream whose drafts are accepted drafts', () => {
    const [[alone] = []] = planOf({}, { decoding: [drafting(0)] }).decode;
    expect(alone?.[1]).toBeGreaterThan(4);
    const together = planOf({}, { decoding: [drafting(0), drafting(1), drafting(2)] }).decode.flat();
    expect(together.map(([sequence]) => sequence)).toEqual([0, 1, 2]);
    for (const [, rows] of together) expect(rows).toBeGreaterThan(1);
  });

  it('asks for no more drafts than there are', () => {
    const made = teach(planner(), { 1: 40, 2: 41, 8: 41, 16: 43 });
    const { calls } = made.plan(state({ decoding: [drafting(0), drafting(1, { draftTokens: 2 })] }));
    const [first, second] = calls.flatMap(({ rows }) => rows);
    expect(first?.tokens).toBeGreaterThan(3);
    expect(second).toMatchObject({ tokens: 3, padding: 0 });
  });

  it('gives sequences with windows of their own equally many rows in one call', () => {
    const made = teach(planner({ sharesCells: false }), { 1: 40, 2: 41, 8: 41, 16: 43 });
    const { calls } = made.plan(state({ decoding: [drafting(0), drafting(1, { draftTokens: 2 })] }));
    expect(calls.length).toBe(1);
    const [first, second] = calls.flatMap(({ rows }) => rows);
    expect(first?.tokens).toBeGreaterThan(3);
    expect(second).toMatchObject({ tokens: 3, padding: (first?.tokens ?? 0) - 3 });
  });

  it('drafts nothing while a prompt is prefilled, which somebody waits for', () => {
    const fields = { decoding: [drafting(0)], prefilling: [prefilling(1, 0, 30)] };
    expect(planOf({}, fields)).toEqual({ decode: [[[0, 1]]], prefill: [[1, 30]] });
  });

  it('drafts nothing where it is switched off, nor beyond the context, nor where nothing can be cut', () => {
    const rows = (options: Partial<TunedPlannerOptions>) =>
      planOf(options, { decoding: [drafting(0)] }).decode[0]?.[0]?.[1];
    expect(rows({ maxDraftTokens: 0 })).toBe(1);
    expect(rows({ canCut: false })).toBe(1);
    expect(rows({ numCtx: 104 })).toBe(4);
    expect(rows({ numCtx: 101 })).toBe(1);
  });

  it('prefers a prompt that it passed over again and again', () => {
    const made = planner();
    const crowd = { decoding: [decoding(0)], prefilling: [prefilling(1, 0, 4000), prefilling(2, 0, 30)] };
    const firsts = Array.from({ length: 12 }, () => shape(made.plan(state(crowd))).prefill[0]?.[0]);
    expect(firsts[0]).toBe(2);
    expect(firsts).toContain(1);
  });
});

describe('decode rows', () => {
  const apart = { decoding: [decoding(0), decoding(1), decoding(3)] };
  const calls = (options: Partial<TunedPlannerOptions>) =>
    shape(teach(planner(options), { 1: 25, 2: 75, 3: 98, 4: 90 }).plan(state(apart))).decode.map((call) =>
      call.map(([sequence]) => sequence),
    );

  it('are one call, and one for each where that is cheaper', () => {
    const groups = (ms: Readonly<Record<number, number>>) =>
      shape(teach(planner(), ms).plan(state(apart))).decode.map((call) => call.length);
    expect(groups({ 1: 40, 3: 80 })).toEqual([3]);
    expect(groups({ 1: 25, 3: 98 })).toEqual([1, 1, 1]);
    expect(groups({ 1: 40 })).toEqual([3]);
  });

  it('are a call for each run of neighbours where sequences have windows of their own', () => {
    expect(calls({ sharesCells: false })).toEqual([[0, 1], [3]]);
  });

  it('are calls of their own where an exact load says so, and share a call where it does not', () => {
    const exact = { sharesCells: false, maxDraftTokens: 0 };
    expect(calls({ ...exact, exact: { together: false } })).toEqual([[0], [1], [3]]);
    expect(calls({ ...exact, exact: { together: true } })).toEqual([[0, 1], [3]]);
  });

  it('are drafted for only where all share a call', () => {
    const made = planner({ sharesCells: false });
    const rows = (...ids: number[]) =>
      made.plan(state({ decoding: ids.map((id) => drafting(id)) })).calls.map((call) => rowsIn(call));
    expect(rows(0, 1)[0]).toBeGreaterThan(2);
    expect(rows(0, 2)).toEqual([1, 1]);
  });

  it('are drafted for again after one slow moment ruled that out', () => {
    const made = teach(planner(), { 1: 40 });
    const plan = () => made.plan(state({ decoding: [drafting(0)] })).calls.flatMap(({ rows }) => rows);
    made.observe({ phase: 'decode', rows: [...plan()], ms: 4_000 });
    expect(plan()).toMatchObject([{ tokens: 1 }]);
    let steps = 0;
    for (; plan()[0]?.tokens === 1 && steps < 1_000; steps += 1)
      made.observe({ phase: 'decode', rows: decodeRows(0), ms: 40 });
    expect(steps).toBeGreaterThan(200);
    expect(steps).toBeLessThan(400);
  });
});

describe('a part that is left out', () => {
  it('drafts nothing without drafts, and asks for no prompt lookup', () => {
    expect(planner({ without: ['drafts'] }).maxDraftTokens).toBe(0);
    expect(planOf({ without: ['drafts'] }, { decoding: [drafting(0)] }).decode).toEqual([[[0, 1]]]);
  });

  it('neither lingers nor lets prompts end together without bursts', () => {
    const two = { nowMs: 10, prefilling: [prefilling(0, 0, 200), prefilling(1, 0, 220)] };
    expect(planOf({}, two).prefill.map(([, rows]) => rows)).not.toContain(200);
    expect(planOf({ without: ['bursts'] }, two).prefill).toEqual([[0, 200]]);
    expect(planner().lingerMs(1000)).toBeGreaterThan(0);
    expect(planner({ without: ['bursts'] }).lingerMs(1000)).toBe(0);
    expect(planner().lingerMs(10)).toBe(0);
  });

  it('prefills in chunks of one size without chunk size', () => {
    const long = { prefilling: [prefilling(0, 0, 4000)] };
    expect(planOf({}, long).prefill[0]?.[1]).toBeGreaterThan(64);
    expect(planOf({ without: ['chunk-size'] }, long).prefill).toEqual([[0, 64]]);
  });
});

describe('answers of an exact load', () => {
  const callsOf = (together: boolean, prices: Readonly<Record<number, number>>): number[] => {
    const made = teach(planner({ exact: { together }, sharesCells: false }), prices);
    const four = [0, 1, 2, 3].map((sequence) => decoding(sequence));
    return made.plan(state({ decoding: four })).calls.map(({ rows }) => rows.length);
  };

  it('are one call, also where one such call took long', () => {
    expect(callsOf(true, { 1: 10, 2: 90 })).toEqual([4]);
    expect(callsOf(true, { 1: 10, 2: 90, 4: 200 })).toEqual([4]);
  });

  it('are calls of their own where their rows lose their bits together', () => {
    expect(callsOf(false, { 1: 10, 2: 5, 4: 5 })).toEqual([1, 1, 1, 1]);
  });
});
