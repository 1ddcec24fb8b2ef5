/**
 * Which free sequence a prompt takes when it continues none of them: the one with the least expected cost. Two things
 * count, in milliseconds: what it costs to prefill the evicted state again, weighted by how likely its conversation
 * continues; and what decode steps cost when sequence ids are not consecutive. Pure.
 */
import { decodeMs, fillers, type StepMs } from './filler-rows.ts';
import type { FreeSequence, SequenceQuestion } from './step-planner.ts';
import { EXPECTED_DECODE_STEPS } from './tuning.ts';

export interface SequenceCosts {
  readonly prefillMsPerToken: number;
  readonly stepMs: StepMs;
  /** Filler rows can join sequences whose ids lie apart. */
  readonly fills: boolean;
}

export function cheapestSequence(question: SequenceQuestion, costs: SequenceCosts): number {
  const { free, busy, waiting } = question;
  const losses = evictionLosses(free, costs.prefillMsPerToken);
  const lossOf = (candidate: FreeSequence): number => losses.get(candidate) ?? 0;
  const byLoss = [...free].sort(
    (a, b) => lossOf(a) - lossOf(b) || a.lastUsed - b.lastUsed || a.sequence - b.sequence,
  );
  const count = Math.max(1, Math.min(waiting, free.length));
  const idle = new Set(free.map(({ sequence }) => sequence));
  const priceOf = (chosen: readonly FreeSequence[]): number =>
    chosen.reduce((sum, candidate) => sum + lossOf(candidate), 0) +
    EXPECTED_DECODE_STEPS * stepPrice([...busy, ...chosen.map(({ sequence }) => sequence)], idle, costs);
  const [best] = [byLoss.slice(0, count), ...windows(free, count)]
    .map((chosen) => ({ chosen, price: priceOf(chosen) }))
    .sort((a, b) => a.price - b.price);
  const taken = byLoss.find((candidate) => best?.chosen.includes(candidate));
  if (taken === undefined) throw new Error('there is no free sequence to choose from');
  return taken.sequence;
}

function stepPrice(decoding: readonly number[], idle: ReadonlySet<number>, costs: SequenceCosts): number {
  const ids = [...decoding].sort((a, b) => a - b);
  const canFill = (id: number): boolean => idle.has(id) && !ids.includes(id);
  const filled = costs.fills ? fillers(ids, canFill, costs.stepMs) : [];
  return decodeMs([...ids, ...filled], costs.stepMs);
}

/** Groups of so many free sequences, neighbours by id. */
function windows(free: readonly FreeSequence[], count: number): FreeSequence[][] {
  const byId = [...free].sort((a, b) => a.sequence - b.sequence);
  return byId.slice(0, byId.length - count + 1).map((_, start) => byId.slice(start, start + count));
}

/** The more recently used, the likelier to continue. State that is only the shared prefix is a gain, not a loss. */
function evictionLosses(free: readonly FreeSequence[], prefillMsPerToken: number): Map<FreeSequence, number> {
  const newestFirst = [...free].sort((a, b) => b.lastUsed - a.lastUsed || a.sequence - b.sequence);
  return new Map(
    newestFirst.map((candidate, rank) => {
      const evicted = candidate.cachedTokens - candidate.sharedTokens;
      const likelihood = 1 / (1 + rank);
      const tokens = evicted > 0 ? evicted * likelihood : -candidate.sharedTokens;
      return [candidate, tokens * prefillMsPerToken];
    }),
  );
}
