/** How long streams wait for prompts, and how long a call may keep the worker from its messages, whatever begins when. */
import { describe, expect, it } from 'vitest';
import {
  amd,
  intel,
  type Simulated,
  type SimulatedRequest,
  simulate,
  simulatedPlanner,
  type StepCosts,
} from '../../../../test/support/engine/simulated-steps.ts';

const request = (atMs: number, promptTokens: number, answerTokens = 48): SimulatedRequest => ({
  atMs,
  promptTokens,
  answerTokens,
});

/** On a machine whose prices are known already. */
function answered(costs: StepCosts, requests: readonly SimulatedRequest[]): Simulated {
  const made = simulatedPlanner();
  const options = { costsAt: () => costs, seed: 1, noise: 0 };
  for (const streams of [1, requests.length]) {
    simulate(
      made,
      Array.from({ length: streams }, () => request(0, 100, 100)),
      options,
    );
  }
  return simulate(made, requests, options);
}

/** The longest step that only decodes. */
const stepMs = ({ rowsMs, rowDepthMs }: StepCosts): number => Math.max(...rowsMs) + 8 * 512 * rowDepthMs;

/** The promise: 250 ms, or a tile of rows, with a step that decodes. */
const longestGapMs = (costs: StepCosts): number =>
  Math.max(260, 64 * costs.prefillMsPerToken + (costs.rowsMs[1] ?? 0) / 2 + stepMs(costs));

/** Depths at which a row costs twice what it costs at position 0. */
const DOUBLES_AT = { tile: 900, slice: 230 };

const tileMsAt = (costs: StepCosts, depth: number): number =>
  64 * costs.prefillMsPerToken * (1 + depth / DOUBLES_AT.tile);

/** How many times what it costs in a tile a row costs among fewer. */
const dearerAt = (depth: number): number => (1 + depth / DOUBLES_AT.slice) / (1 + depth / DOUBLES_AT.tile);

describe.each(Object.entries({ amd, intel }))('a burst on a machine like the %s', (_, costs) => {
  it.each([
    [2, 0],
    [4, 0],
    [8, 0],
    [2, 40],
    [4, 40],
    [8, 40],
  ])('of %d streams begins together, its prompts each %d tokens longer than the last', (streams, longer) => {
    const requests = Array.from({ length: streams }, (_, i) => request(0, 30 + longer * i));
    const { gapsMs, firstTokenMs, calls } = answered(costs, requests);
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(1.2 * stepMs(costs));
    const promptTokens = requests.reduce((sum, each) => sum + each.promptTokens, 0);
    const prefillMs = promptTokens * costs.prefillMsPerToken;
    expect(Math.max(...firstTokenMs)).toBeLessThanOrEqual(1.1 * prefillMs + 100);
    expect(Math.max(...calls.map(({ ms }) => ms))).toBeLessThanOrEqual(1_000);
  });

  it('keeps a stream that began before the others no longer than one that flows', () => {
    const requests = Array.from({ length: 8 }, (_, i) => request(i, 30 + 40 * i));
    expect(Math.max(...answered(costs, requests).gapsMs)).toBeLessThanOrEqual(longestGapMs(costs));
  });

  it('lets a short prompt begin at once when a long one came with it', () => {
    const { firstTokenMs } = answered(costs, [request(0, 1_500), request(0, 30)]);
    expect(firstTokenMs[1]).toBeLessThanOrEqual(30 * costs.prefillMsPerToken + 100);
  });

  it('lets nobody wait for others for more than some seconds', () => {
    const requests = Array.from({ length: 40 }, (_, i) => request(i * 200, 120, 4));
    const { firstTokenMs } = answered(costs, requests);
    expect(firstTokenMs[0]).toBeLessThanOrEqual(7_000);
  });
});

describe.each(Object.entries({ amd, intel }))('streams that flow on a machine like the %s', (_, costs) => {
  const flowing = [request(0, 30, 400), request(0, 30, 400)];

  it('wait 250 ms for a step at most, or for one tile, for a long prompt and for a burst alike', () => {
    const begun = [[request(8_000, 1_500)], Array.from({ length: 6 }, (_, i) => request(8_000, 30 + 40 * i))];
    for (const others of begun) {
      const { gapsMs } = answered(costs, [...flowing, ...others]);
      expect(Math.max(...gapsMs)).toBeLessThanOrEqual(longestGapMs(costs));
    }
  });

  // A prompt that arrives with the first token of a stream is a burst with nobody.
  it.each([0, 40, 140, 400, 2_000])(
    'wait no longer for a prompt that arrives %d ms after they began, whatever is left of it',
    (afterMs) => {
      const young = [request(0, 30, 60), request(0, 30, 60)];
      const begunMs = Math.max(...answered(costs, young).firstTokenMs);
      for (const promptTokens of [300, 420, 600, 1_500]) {
        const others = [request(begunMs + afterMs, promptTokens, 2)];
        const { gapsMs } = answered(costs, [...young, ...others]);
        expect(Math.max(...gapsMs), `${promptTokens} tokens`).toBeLessThanOrEqual(longestGapMs(costs));
      }
    },
  );
});

describe.each([
  ['amd', amd],
  ['intel', intel],
  ['a fast one', { rowsMs: [0, 10, 14, 18, 20], rowDepthMs: 0.002, prefillMsPerToken: 0.8 }],
])(
  'streams that flow on a machine like the %s, where a row costs twice as much at a depth of 900, and alone at 230',
  (_, flat) => {
    const costs: StepCosts = { ...flat, prefillDoublesAt: DOUBLES_AT };
    const flowing = [request(0, 30, 2_000), request(0, 30, 2_000)];
    const options = { costsAt: () => costs, seed: 1, noise: 0 };

    it.each([0, 1_000, 2_000, 3_000])(
      'wait no longer for a prompt behind %d cached tokens',
      (cachedTokens) => {
        const made = simulatedPlanner();
        // Whatever is cached was evaluated here, before short prompts came.
        simulate(made, [request(0, 3_500, 2)], options);
        for (let i = 0; i < 8; i += 1) simulate(made, [request(0, 100, 20)], options);
        const long = { ...request(8_000, cachedTokens + 700, 2), cachedTokens };
        const { gapsMs } = simulate(made, [...flowing, long], { ...options, untilMs: 40_000 });
        const stepDepthMs = 2 * 2_000 * costs.rowDepthMs;
        const tileMs = tileMsAt(costs, cachedTokens + 700);
        const mostMs = 750 * dearerAt(cachedTokens + 700);
        expect(Math.max(...gapsMs)).toBeLessThanOrEqual(
          1.05 * Math.max(250, Math.min(mostMs, tileMs)) + stepMs(costs) + stepDepthMs,
        );
      },
    );
  },
);

describe('a long prompt', () => {
  const deep: StepCosts = { ...amd, prefillDoublesAt: DOUBLES_AT };
  const tilesMs = (costs: StepCosts, tokens: number): number =>
    Array.from({ length: tokens / 64 }, (_, i) => tileMsAt(costs, i * 64) + stepMs(costs)).reduce(
      (a, b) => a + b,
    );

  it.each([
    ['beside a stream', [request(0, 30, 2_000)]],
    ['alone', []],
  ])('of 6,400 tokens %s is read in tiles to its end', (_, others) => {
    const made = simulatedPlanner();
    const long = request(8_000, 6_400, 2);
    const options = { costsAt: () => deep, seed: 1, noise: 0.1 };
    const { firstTokenMs } = simulate(made, [...others, long], options);
    expect(firstTokenMs.at(-1)).toBeLessThanOrEqual(1.15 * tilesMs(deep, 6_400));
  });

  it('that began in a minute in which the machine was slow is read in tiles as well', () => {
    const slow: StepCosts = { ...deep, prefillMsPerToken: 2 * deep.prefillMsPerToken };
    const costsAt = (nowMs: number) => (nowMs < 20_000 ? slow : deep);
    const requests = [request(0, 30, 2_000), request(8_000, 1_920, 2)];
    const { firstTokenMs } = simulate(simulatedPlanner(), requests, { costsAt, seed: 1, noise: 0.1 });
    expect(firstTokenMs[1]).toBeLessThanOrEqual(1.15 * tilesMs(slow, 1_920));
  });

  it('on a model that is slow at once is not read in tiles of seconds', () => {
    const slow: StepCosts = { ...deep, rowsMs: [0, 100, 200, 300], prefillMsPerToken: 40 };
    const requests = [request(0, 30, 200), request(8_000, 640, 2)];
    const { gapsMs } = simulate(simulatedPlanner(), requests, { costsAt: () => slow, seed: 1, noise: 0 });
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(1_000);
  });
});

describe('a call', () => {
  it('takes about a second at most on a slow model, and the first one too; the end of a prompt is not cut off', () => {
    const slow: StepCosts = { rowsMs: [0, 300, 600, 900, 1_000], rowDepthMs: 0.05, prefillMsPerToken: 50 };
    const { calls } = simulate(simulatedPlanner(), [request(0, 1_000, 5)], {
      costsAt: () => slow,
      seed: 1,
      noise: 0,
    });
    const prefill = calls.filter(({ phase }) => phase === 'prefill').map(({ ms }) => ms);
    expect(Math.max(...prefill.slice(0, -1))).toBeLessThanOrEqual(1_150);
    expect(prefill.at(-1)).toBeLessThanOrEqual(1_500);
  });

  it('has four rows at least, where even these take longer', () => {
    const slower: StepCosts = { rowsMs: [0, 900, 1_800], rowDepthMs: 0.05, prefillMsPerToken: 700 };
    const { calls } = simulate(simulatedPlanner(), [request(0, 60, 2)], {
      costsAt: () => slower,
      seed: 1,
      noise: 0,
    });
    const rows = calls.slice(1, -1).map((call) => call.rows[0]?.tokens ?? 0);
    expect(Math.min(...rows.slice(0, -1))).toBeGreaterThanOrEqual(4);
    expect(Math.max(...rows)).toBeLessThanOrEqual(8);
  });
});
