/**
 * A batch loop over a table of costs instead of a model: it carries plans out as the real one does, on a clock that only
 * its calls move. Noise is seeded.
 */
import type {
  DecodingSequence,
  PlannedCall,
  PrefillingSequence,
  StepPlanner,
} from '../../../src/worker/batch/planning/step-planner.ts';
import { CostModel } from '../../../src/worker/batch/planning/cost-model.ts';
import { TunedPlanner } from '../../../src/worker/batch/planning/tuned-planner.ts';

/** What calls cost in milliseconds. */
export interface StepCosts {
  /** By rows, from 0 on; beyond the end each further row costs what the last one did. */
  readonly rowsMs: readonly number[];
  /** Of reading the KV state of one earlier token. */
  readonly rowDepthMs: number;
  readonly prefillMsPerToken: number;
  /** Depths at which a row of a prompt costs twice what it costs at position 0: in a whole tile of 64, and among fewer. */
  readonly prefillDoublesAt?: { readonly tile: number; readonly slice: number };
}

/** As measured on two AMD cores: two rows cost three times one row, and further ones next to nothing. */
export const amd: StepCosts = {
  rowsMs: [0, 25, 75, 98, 104, 106, 108, 110, 111],
  rowDepthMs: 0.01,
  prefillMsPerToken: 3.5,
};
/** As measured on two Intel cores: three rows cost more than four. */
export const intel: StepCosts = {
  rowsMs: [0, 43, 73, 85, 78, 113, 144, 178, 142],
  rowDepthMs: 0.03,
  prefillMsPerToken: 3.5,
};

/** The planner that ships, of a context whose sequences share their cells; it knows no price yet. */
export function simulatedPlanner(): TunedPlanner {
  return new TunedPlanner({
    costs: new CostModel({ readsByTile: true }),
    numCtx: 8192,
    mostRows: 512,
    maxDraftTokens: 0,
    canCut: true,
    sharesCells: true,
    onGpu: false,
    without: [],
  });
}

export interface SimulatedRequest {
  readonly atMs: number;
  readonly promptTokens: number;
  /** Of these, tokens whose state is in the sequence already. */
  readonly cachedTokens?: number;
  readonly answerTokens: number;
}

export interface SimulationOptions {
  readonly costsAt: (nowMs: number) => StepCosts;
  readonly seed: number;
  /** Calls take up to this share longer, and one in fifty takes half as long again; 0: neither. */
  readonly noise: number;
  readonly untilMs?: number;
}

export interface Simulated {
  readonly ms: number;
  readonly tokens: number;
  readonly firstTokenMs: readonly number[];
  readonly gapsMs: readonly number[];
  readonly calls: readonly (PlannedCall & { readonly ms: number; readonly atMs: number })[];
}

export function callMs(costs: StepCosts, call: PlannedCall): number {
  const { rowsMs, rowDepthMs, prefillMsPerToken, prefillDoublesAt } = costs;
  const rows = call.rows.reduce((sum, { tokens, padding }) => sum + tokens + padding, 0);
  const depth = call.rows.reduce((sum, row) => sum + row.position * (row.tokens + row.padding), 0);
  if (call.phase === 'prefill') {
    const doublesAt = prefillDoublesAt?.[rows >= 64 ? 'tile' : 'slice'] ?? Number.POSITIVE_INFINITY;
    return (rowsMs[1] ?? 0) / 2 + (rows + depth / doublesAt) * prefillMsPerToken;
  }
  const last = rowsMs.length - 1;
  const slope = (rowsMs[last] ?? 0) - (rowsMs[last - 1] ?? 0);
  return (rowsMs[rows] ?? (rowsMs[last] ?? 0) + (rows - last) * slope) + depth * rowDepthMs;
}

interface SimulatedStream extends SimulatedRequest {
  readonly sequence: number;
  readonly seenMs: number;
  position: number;
  answered: number;
  readonly tokensMs: number[];
}

export function simulate(
  planner: StepPlanner,
  requests: readonly SimulatedRequest[],
  { costsAt, seed, noise, untilMs = Number.POSITIVE_INFINITY }: SimulationOptions,
): Simulated {
  const random = randomOf(seed);
  const waiting = [...requests].sort((a, b) => a.atMs - b.atMs);
  const all: SimulatedStream[] = [];
  let running: SimulatedStream[] = [];
  const calls: Simulated['calls'][number][] = [];
  let nowMs = 0;
  while (waiting.length + running.length > 0 && nowMs < untilMs) {
    if (running.length === 0) nowMs = Math.max(nowMs, waiting[0]?.atMs ?? 0);
    for (; waiting[0] !== undefined && waiting[0].atMs <= nowMs; waiting.shift()) {
      running.push({
        ...waiting[0],
        sequence: freeOf(running),
        seenMs: nowMs,
        position: waiting[0].cachedTokens ?? 0,
        answered: 0,
        tokensMs: [],
      });
    }
    all.push(...running.filter((stream) => !all.includes(stream)));
    running.sort((a, b) => a.sequence - b.sequence);
    const plan = planner.plan({
      nowMs,
      decoding: running.filter(({ answered }) => answered > 0).map(decodingState),
      prefilling: running.filter(({ answered }) => answered === 0).map(prefillingState),
    });
    if (plan.calls.length === 0) throw new Error('the planner stands still');
    for (const call of plan.calls) {
      const slow = noise > 0 && random() < 0.02 ? 1.5 : 1 + noise * random();
      const ms = callMs(costsAt(nowMs), call) * slow;
      calls.push({ ...call, ms, atMs: nowMs });
      nowMs += ms;
      for (const row of call.rows) {
        advance(
          running.find(({ sequence }) => sequence === row.sequence),
          row,
          nowMs,
        );
      }
      planner.observe({ ...call, ms });
    }
    running = running.filter(({ answered, answerTokens }) => answered < answerTokens);
  }
  return {
    ms: nowMs,
    tokens: all.reduce((sum, { answered }) => sum + answered, 0),
    firstTokenMs: all.map(({ tokensMs, atMs }) => (tokensMs[0] ?? Number.POSITIVE_INFINITY) - atMs),
    gapsMs: all.flatMap(({ tokensMs }) => tokensMs.slice(1).map((at, i) => at - (tokensMs[i] ?? at))),
    calls,
  };
}

function advance(stream: SimulatedStream | undefined, row: PlannedCall['rows'][number], nowMs: number): void {
  if (stream === undefined) return;
  stream.position += row.tokens;
  if (stream.position < stream.promptTokens) return;
  stream.answered += 1;
  stream.tokensMs.push(nowMs);
}

function freeOf(running: readonly SimulatedStream[]): number {
  for (let id = 0; ; id += 1) if (running.every(({ sequence }) => sequence !== id)) return id;
}

function decodingState({ sequence, position, seenMs, tokensMs }: SimulatedStream): DecodingSequence {
  const firstTokenMs = tokensMs[0] ?? 0;
  return { sequence, position, arrivedMs: seenMs, firstTokenMs, draftTokens: 0, draftHitRate: 0 };
}

function prefillingState({ sequence, position, promptTokens, seenMs }: SimulatedStream): PrefillingSequence {
  return { sequence, position, remaining: promptTokens - position, arrivedMs: seenMs };
}

/** A linear congruential generator: the same numbers everywhere. */
function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) % 4_294_967_296;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
