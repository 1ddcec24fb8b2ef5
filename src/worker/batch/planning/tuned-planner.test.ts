import { describe, expect, it } from 'vitest';
import type {
  DecodingSequence,
  EvaluatedCall,
  PrefillingSequence,
  StepPlan,
  StepState,
} from './step-planner.ts';
import { TunedPlanner, type TunedPlannerOptions } from './tuned-planner.ts';

const IDLE = [4, 5, 6, 7].map((sequence) => ({ sequence, position: 0 }));

function planner(options: Partial<TunedPlannerOptions> = {}): TunedPlanner {
  const made = new TunedPlanner({
    numCtx: 4096,
    mostRows: 512,
    maxDraftTokens: 15,
    canCut: true,
    onGpu: false,
    calibratedMs: 40,
    without: [],
    ...options,
  });
  // A prompt was prefilled before, so that the price of its rows is known.
  made.observe({ phase: 'prefill', rows: [prefillRow(0, 64)], ms: 200 });
  return made;
}

const prefillRow = (sequence: number, tokens: number): EvaluatedCall['rows'][number] => ({
  kind: 'prefill',
  sequence,
  tokens,
  padding: 0,
});

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
  answerTokens: 5,
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
  idle: [],
  ...fields,
});

/** Sequence and rows, padding included. */
const shape = ({ decode, prefill }: StepPlan) => {
  const of = (rows: StepPlan['decode']) =>
    rows.map(({ sequence, tokens, padding }) => [sequence, tokens + padding]);
  return { decode: of(decode), prefill: of(prefill) };
};

const planOf = (options: Partial<TunedPlannerOptions>, fields: Partial<StepState>) =>
  shape(planner(options).plan(state(fields)));

describe('the tuned planner', () => {
  it('pads the end of a deep prompt to a tile, where its memory can be cut and no GPU computes it', () => {
    const deep = { prefilling: [prefilling(0, 1500, 40)] };
    expect(planOf({}, deep).prefill).toEqual([[0, 64]]);
    expect(planOf({ onGpu: true }, deep).prefill).toEqual([[0, 40]]);
    expect(planOf({ canCut: false }, deep).prefill).toEqual([[0, 40]]);
  });

  it('keeps decode rows and chunks apart, but a prompt of one token with the decode rows', () => {
    const fields = {
      decoding: [decoding(0), decoding(1)],
      prefilling: [prefilling(2, 50, 1), prefilling(3, 0, 30)],
    };
    expect(planOf({}, fields)).toEqual({
      decode: [
        [0, 1],
        [1, 1],
        [2, 1],
      ],
      prefill: [[3, 30]],
    });
  });

  it('gives a stream whose drafts are accepted drafts, and its neighbours as many rows', () => {
    const [alone] = planOf({}, { decoding: [drafting(0)] }).decode;
    expect(alone?.[1]).toBeGreaterThan(4);
    const together = planOf({}, { decoding: [drafting(0), drafting(1), drafting(2)] }).decode;
    expect(new Set(together.map(([, rows]) => rows)).size).toBe(1);
    expect(together[0]?.[1]).toBeGreaterThan(1);
  });

  it('asks for no more drafts than there are, and pads the rest', () => {
    const made = planner();
    const cheap = [{ kind: 'decode', sequence: 0, tokens: 8, padding: 0 } as const];
    for (let step = 0; step < 20; step += 1) made.observe({ phase: 'decode', rows: cheap, ms: 41 });
    const plan = made.plan(state({ decoding: [drafting(0), drafting(1, { draftTokens: 2 })] }));
    const [first, second] = plan.decode;
    expect(first?.tokens).toBeGreaterThan(3);
    expect(second?.tokens).toBe(3);
    expect(second?.padding).toBe((first?.tokens ?? 0) - 3);
  });

  it('drafts nothing while a prompt is prefilled, which somebody waits for', () => {
    const fields = { decoding: [drafting(0)], prefilling: [prefilling(1, 0, 30)] };
    expect(planOf({}, fields)).toEqual({ decode: [[0, 1]], prefill: [[1, 30]] });
  });

  it('drafts nothing where it is switched off, nor beyond the context, nor where nothing can be cut', () => {
    const rows = (options: Partial<TunedPlannerOptions>) =>
      planOf(options, { decoding: [drafting(0)] }).decode[0]?.[1];
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

describe('a part that is left out', () => {
  it('pads nothing without padding', () => {
    const deep = { prefilling: [prefilling(0, 1500, 40)] };
    expect(planOf({ without: ['padding'] }, deep).prefill).toEqual([[0, 40]]);
  });

  it('drafts nothing without drafts, and asks for no prompt lookup', () => {
    expect(planner({ without: ['drafts'] }).maxDraftTokens).toBe(0);
    expect(planOf({ without: ['drafts'] }, { decoding: [drafting(0)] }).decode).toEqual([[0, 1]]);
  });

  it('joins no runs without fillers', () => {
    const fields = { decoding: [0, 1, 3, 4].map((id) => decoding(id)), idle: [{ sequence: 2, position: 0 }] };
    const measured = (without: TunedPlannerOptions['without']) => {
      const made = planner({ without });
      const run = [0, 1, 2, 3, 4].map(
        (sequence) => ({ kind: 'decode', sequence, tokens: 1, padding: 0 }) as const,
      );
      for (let step = 0; step < 50; step += 1) made.observe({ phase: 'decode', rows: run, ms: 45 });
      return shape(made.plan(state(fields))).decode.map(([sequence]) => sequence);
    };
    expect(measured([])).toEqual([0, 1, 2, 3, 4]);
    expect(measured(['fillers'])).toEqual([0, 1, 3, 4]);
  });

  it('neither lingers nor holds a young stream without coalescing', () => {
    const burst = {
      nowMs: 200,
      decoding: [decoding(0, { answerTokens: 1, firstTokenMs: 150 })],
      prefilling: [prefilling(1, 0, 30)],
    };
    expect(planOf({}, burst).decode).toEqual([]);
    expect(planOf({ without: ['coalescing'] }, burst).decode).toEqual([[0, 1]]);
    expect(planner().lingerMs(1000)).toBeGreaterThan(0);
    expect(planner({ without: ['coalescing'] }).lingerMs(1000)).toBe(0);
  });

  it('takes the first free sequence without sequence choice', () => {
    const free = [
      { sequence: 1, cachedTokens: 4000, sharedTokens: 0, lastUsed: 9 },
      { sequence: 2, cachedTokens: 0, sharedTokens: 0, lastUsed: 0 },
    ];
    const question = { free, busy: [0], waiting: 1 };
    expect(planner().chooseSequence(question)).toBe(2);
    expect(planner({ without: ['sequence-choice'] }).chooseSequence(question)).toBe(1);
  });

  it('prefills in chunks of one size without chunk size', () => {
    const long = { prefilling: [prefilling(0, 0, 4000)], idle: IDLE };
    expect(planOf({}, long).prefill[0]?.[1]).toBeGreaterThan(64);
    expect(planOf({ without: ['chunk-size'] }, long).prefill).toEqual([[0, 64]]);
  });
});
