/**
 * Which free sequence a prompt takes when it continues none. Two things are weighed in milliseconds: what the state
 * that is lost would cost to read again, by the chance that its conversation goes on; and what steps cost when the
 * ids that decode together lie apart, because llama.cpp evaluates only consecutive ones in one pass. Pure.
 */
import { decodeMs, fillers } from './row-plan.ts';

export interface PlaceCost {
  /** Prompts that wait for a place, this one included. */
  readonly waiting: number;
  /** What it costs to evaluate one token of a prompt. */
  readonly rowMs: number;
  /** What a decode step of so many consecutive sequences costs. */
  readonly stepMs: (rows: number) => number;
  /** Whether an idle sequence between two that decode may be filled, which joins their runs. */
  readonly fills: boolean;
}

interface Candidate {
  readonly id: number;
  readonly tokens: readonly number[];
  /** Larger is more recent. */
  readonly lastUsed: number;
}

/** Steps that an answer usually takes. */
const EXPECTED_STEPS = 64;

/** `prefixOf`: tokens of a candidate that the prompt begins with. `free` is not empty. */
export function placeToTake<T extends Candidate>(
  free: readonly T[],
  busy: readonly number[],
  prefixOf: (candidate: T) => number,
  cost: PlaceCost,
): T {
  const losses = lossesMs(free, prefixOf, cost.rowMs);
  const lossOf = (candidate: T): number => losses.get(candidate) ?? 0;
  const byLoss = [...free].sort((a, b) => lossOf(a) - lossOf(b) || a.lastUsed - b.lastUsed || a.id - b.id);
  const count = Math.max(1, Math.min(cost.waiting, free.length));
  const idle = new Set(free.map(({ id }) => id));
  const priceOf = (chosen: readonly T[]): number =>
    chosen.reduce((sum, candidate) => sum + lossOf(candidate), 0) +
    EXPECTED_STEPS * stepPrice([...busy, ...chosen.map(({ id }) => id)], idle, cost);
  const [best] = [byLoss.slice(0, count), ...windows(free, count)]
    .map((chosen) => ({ chosen, price: priceOf(chosen) }))
    .sort((a, b) => a.price - b.price);
  const taken = byLoss.find((candidate) => best?.chosen.includes(candidate));
  if (taken === undefined) throw new Error('no free sequence');
  return taken;
}

function stepPrice(decoding: readonly number[], idle: ReadonlySet<number>, cost: PlaceCost): number {
  const ids = [...decoding].sort((a, b) => a - b);
  const filled = cost.fills ? fillers(ids, (id) => idle.has(id) && !ids.includes(id), cost.stepMs) : [];
  return decodeMs([...ids, ...filled], cost.stepMs);
}

/** Runs of so many free sequences, by id. */
function windows<T extends Candidate>(free: readonly T[], count: number): T[][] {
  const byId = [...free].sort((a, b) => a.id - b.id);
  return byId.slice(0, byId.length - count + 1).map((_, start) => byId.slice(start, start + count));
}

/** A state without anything beyond the shared prefix is as good as found; the others are missed the more, the newer. */
function lossesMs<T extends Candidate>(
  free: readonly T[],
  prefixOf: (candidate: T) => number,
  rowMs: number,
): Map<T, number> {
  const newestFirst = [...free].sort((a, b) => b.lastUsed - a.lastUsed || a.id - b.id);
  return new Map(
    newestFirst.map((candidate, rank) => {
      const prefix = prefixOf(candidate);
      const lost = candidate.tokens.length - prefix;
      const chance = 1 / (1 + rank);
      return [candidate, (lost > 0 ? lost * chance : -prefix) * rowMs];
    }),
  );
}
