/** The tuned planner finds the cheapest way on machines that differ, and keeps its promises while it learns. */
import { describe, expect, it } from 'vitest';
import {
  amd,
  amdQ4,
  callMs,
  intel,
  type SimulatedRequest,
  simulate,
  simulatedPlanner,
  type SimulationOptions,
  type StepCosts,
} from '../../../../../test/support/engine/simulated-steps.ts';

const SEEDS = [1, 2, 3, 4, 5];

const together = (streams: number, promptTokens: number, answerTokens: number): SimulatedRequest[] =>
  Array.from({ length: streams }, () => ({ atMs: 0, promptTokens, answerTokens }));

/** The cheapest fixed way for so many rows, by trying all; `idleMs`: what a row of padding reads. */
function cheapestMs(rowsMs: readonly number[], rows: number, idleMs: number): number {
  if (rows === 0) return 0;
  const ways = Array.from({ length: rows }, (_, i) => {
    const padded = rowsMs.slice(i + 1, i + 5).map((ms, padding) => ms + padding * idleMs);
    return Math.min(...padded) + cheapestMs(rowsMs, rows - i - 1, idleMs);
  });
  return Math.min(...ways);
}

/** What the decode calls after some time would have cost in the best fixed way, as a share of what they did cost. */
function efficiency(
  streams: number,
  options: Pick<SimulationOptions, 'costsAt' | 'seed'>,
  [fromMs, untilMs]: readonly [number, number],
): number {
  const { calls } = simulate(simulatedPlanner(), together(streams, 40, 100_000), {
    noise: 0.1,
    untilMs,
    ...options,
  });
  let ideal = 0;
  let spent = 0;
  for (const call of calls.filter(({ phase, atMs }) => phase === 'decode' && atMs >= fromMs)) {
    const costs = options.costsAt(call.atMs);
    const rowMs = (call.rows[0]?.position ?? 0) * costs.rowDepthMs;
    ideal += call.rows.length * (cheapestMs(costs.rowsMs, streams, rowMs) / streams + rowMs);
    spent += callMs(costs, call);
  }
  return ideal / spent;
}

describe.each(Object.entries({ amd, intel }))('on a machine like the %s', (_, costs) => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    '%d streams decode within 3 percent of the best fixed way, after five seconds',
    (streams) => {
      for (const seed of SEEDS)
        expect(efficiency(streams, { costsAt: () => costs, seed }, [5_000, 60_000])).toBeGreaterThan(0.97);
    },
  );
});

/** One call in ten takes two and a half times as long, by chance. */
const wavering =
  (costs: StepCosts, seed: number) =>
  (nowMs: number): StepCosts => {
    const chance = Math.sin(seed * 1_000 + Math.floor(nowMs * 7)) * 10_000;
    const factor = chance - Math.floor(chance) < 0.1 ? 2.5 : 1;
    return { ...costs, rowsMs: costs.rowsMs.map((ms) => factor * ms) };
  };

describe.each(Object.entries({ amd, amdQ4, intel }))('on a machine like the %s that wavers', (_, costs) => {
  it.each([2, 4, 8])('no slow call keeps %d streams from their best way for long', (streams) => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const share = efficiency(streams, { costsAt: wavering(costs, seed), seed }, [0, 20_000]);
      expect(share).toBeGreaterThan(0.88);
    }
  });
});

describe('a machine that changes', () => {
  it.each([2, 3, 4, 8])('%d streams: prices are learnt again within twenty seconds', (streams) => {
    for (const seed of SEEDS) {
      const becomes = (before: StepCosts, after: StepCosts) => (nowMs: number) =>
        nowMs < 30_000 ? before : after;
      const period = [50_000, 90_000] as const;
      expect(efficiency(streams, { costsAt: becomes(intel, amd), seed }, period)).toBeGreaterThan(0.97);
      expect(efficiency(streams, { costsAt: becomes(amd, intel), seed }, period)).toBeGreaterThan(0.97);
    }
  });

  it.each([2, 3, 4, 8])('%d streams: slow moments every few seconds cost less than 8 percent', (streams) => {
    const slowed = (costs: StepCosts): StepCosts => ({
      ...costs,
      rowsMs: costs.rowsMs.map((ms) => 1.7 * ms),
    });
    for (const costs of [amd, intel]) {
      for (const seed of SEEDS) {
        const costsAt = (nowMs: number) => (nowMs % 7_000 < 1_500 ? slowed(costs) : costs);
        expect(efficiency(streams, { costsAt, seed }, [5_000, 60_000])).toBeGreaterThan(0.92);
      }
    }
  });
});
