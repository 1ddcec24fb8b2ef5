import { describe, expect, it } from 'vitest';
import {
  type Hogs,
  type Machine,
  type Ran,
  reached,
  run,
  timeOf,
} from '../../../test/support/engine/simulated-machine.ts';
import { seeded } from '../../../packages/schema-grammar/test/grammar-walk.ts';
import { threadCounts } from './counts.ts';
import { MACHINE } from './limits.ts';
import { ThreadChoice } from './thread-choice.ts';

const MINUTE = 60_000;
/** When the hogs end. */
const END = 30_000;

/** Milliseconds of a step: a model that gains by every core, one that hardly does, and one that loses. */
const large = (threads: number): number => 5 + 40 / threads;
const flat = (threads: number): number => 24.5 + 0.5 / threads;
const tiny = (threads: number): number => 1.6 / threads + 1.4 * Math.log2(threads);

interface Simulated extends Omit<Machine, 'random'> {
  readonly start: number;
  readonly seed: number;
}

function simulate({ start, seed, ...machine }: Simulated, untilMs: number) {
  const choice = new ThreadChoice({ counts: threadCounts(machine.cores), start });
  const ran = run({ ...machine, random: seeded(seed) }, choice, untilMs);
  return { choice, ran };
}

const every =
  (periodMs: number, busyMs: number, count: number): Hogs =>
  (atMs) =>
    atMs % periodMs < busyMs ? count : 0;

function shortProcesses(seed: number): Hogs {
  const random = seeded(seed);
  return () => (random() < 0.3 ? 1 + Math.floor(2 * random()) : 0);
}

const hogs: readonly (readonly [string, (cores: number, seed: number) => Hogs])[] = [
  ['one steady hog', () => () => 1],
  ['a steady hog per core', (cores) => () => cores],
  ['hogs of 20 in 40 ms', (cores) => every(40, 20, cores)],
  ['hogs of 100 in 200 ms', (cores) => every(200, 100, cores)],
  ['hogs of 500 in 1,000 ms', (cores) => every(1_000, 500, cores)],
  ['hogs of 2.5 in 5 s', (cores) => every(5_000, 2_500, cores)],
  ['a hog a third of the time', () => every(700, 210, 1)],
  ['short processes', (_, seed) => shortProcesses(seed)],
];

const machines = [
  { cores: 2, stepMs: large },
  { cores: 8, stepMs: large },
  { cores: 2, stepMs: flat },
];

const runs = machines.flatMap((machine) =>
  [true, false].flatMap((tellsOthers) =>
    [1, 2].map((seed) => ({
      ...machine,
      tellsOthers,
      seed,
      start: seed % 2 === 0 ? machine.cores : 1,
    })),
  ),
);

describe.each(hogs)('after %s', (_, hogsOf) => {
  it('throughput is within 5 % of the best within a minute, whatever the load began with', () => {
    for (const each of runs) {
      const busy = hogsOf(each.cores, each.seed);
      const ended: Hogs = (atMs) => (atMs < END ? busy(atMs) : 0);
      const { ran } = simulate({ ...each, hogs: ended }, END + 1.5 * MINUTE);
      const share = reached(ran, END + MINUTE, END + 1.5 * MINUTE);
      expect(share, JSON.stringify(each)).toBeGreaterThan(0.95);
    }
  });
});

it('is known at once where the machine tells what others use: the first ten seconds after them lose little', () => {
  for (const cores of [2, 8]) {
    for (const count of [1, cores]) {
      // A trial more or less in ten seconds is chance.
      const shares = Array.from({ length: 12 }, (_, at) => {
        const ended: Hogs = (atMs) => (atMs < END ? count : 0);
        const machine = { cores, stepMs: large, tellsOthers: true, hogs: ended, start: cores, seed: at + 1 };
        return reached(simulate(machine, END + 10_000).ran, END, END + 10_000);
      });
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      expect(mean, JSON.stringify({ cores, count })).toBeGreaterThan(0.955);
    }
  }
});

/** Hogs and pauses of random lengths, so long on average. */
function intermittent(seed: number, busyMs: number, pauseMs: number): Hogs {
  const random = seeded(seed);
  let fromMs = 0;
  let untilMs = 0;
  let busy = 0;
  return (atMs) => {
    while (untilMs <= atMs) {
      fromMs = untilMs;
      busy = busy === 0 ? 1 + Math.floor(2 * random()) : 0;
      untilMs = fromMs + (busy > 0 ? busyMs : pauseMs) * (0.2 + 1.6 * random());
    }
    return busy;
  };
}

/** The longest run of steps on another count than two, once `END` is over: four streams, answers of 64 tokens, two cores. */
function longestOnOne(hogsAfter: Hogs, seed: number, tellsOthers: boolean): number {
  const [before, random] = [intermittent(seed + 1_000, 1_000, 1_000), seeded(seed)];
  const hogsAt: Hogs = (atMs) => (atMs < END ? before(atMs) : hogsAfter(atMs - END));
  const machine = { cores: 2, stepMs: large, hogs: hogsAt, tellsOthers, random };
  const choice = new ThreadChoice({ counts: [1, 2], start: 1 + (seed % 2) });
  let [run, longest, hogMs, stepsMs, lookedMs] = [0, 0, 0, 0, 0];
  let othersCores: number | null = null;
  for (let [atMs, step] = [0, 0]; atMs < END + 2 * MINUTE; step += 1) {
    const call = { phase: 'decode', rows: 4, depth: 40 + (step % 64), atMs } as const;
    const threads = choice.threadsFor(call);
    const { ms, cpuMs } = timeOf(machine, call, threads);
    hogMs += hogsAt(atMs) * ms;
    stepsMs += ms;
    atMs += ms;
    if (tellsOthers && atMs - lookedMs > 500) {
      othersCores = hogMs / stepsMs;
      [hogMs, stepsMs, lookedMs] = [0, 0, atMs];
    }
    choice.observe({ ...call, threads, ms, cpuMs, othersCores });
    run = atMs < END || choice.decodeThreads === 2 ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}

describe('four streams on the wrong count', () => {
  it.each([
    ['nothing', () => (): number => 0, 80],
    ['a hog of 50 ms in a second', (seed: number) => intermittent(seed, 50, 1_000), 150],
    ['a hog of a second in twenty', (seed: number) => intermittent(seed, 1_000, 20_000), 90],
  ] as const)('leave it within some steps beside %s', (_, hogsOf, most) => {
    for (let seed = 1; seed <= 20; seed += 1) {
      for (const tells of [true, false])
        expect(longestOnOne(hogsOf(seed), seed, tells), `seed ${seed}`).toBeLessThan(most);
    }
  });
});

describe('on a quiet machine', () => {
  const quiet: Hogs = () => 0;
  const lost = (ran: readonly Ran[]): number => 1 - reached(ran, 0, MINUTE);

  it.each([
    ['a model that gains by every core', large, 8],
    ['a model that hardly does', flat, 2],
    ['a model that loses', tiny, 1],
  ])('looking for another count loses less than two in a hundred: %s', (_, stepMs, start) => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const cores = Math.max(2, start);
      const { ran } = simulate({ cores, stepMs, tellsOthers: true, hogs: quiet, start, seed }, MINUTE);
      expect(lost(ran)).toBeLessThan(0.02);
    }
  });

  it('a wrong start is found out, and the count that is found is one to remember', () => {
    const machine = { cores: 8, tellsOthers: true, hogs: quiet };
    const slow = simulate({ ...machine, stepMs: large, start: 1, seed: 1 }, MINUTE);
    expect([slow.choice.decodeThreads, slow.choice.isConfirmed]).toEqual([8, true]);
    const fast = simulate({ ...machine, stepMs: tiny, start: 8, seed: 1 }, MINUTE);
    expect([fast.choice.decodeThreads, fast.choice.isConfirmed]).toEqual([1, true]);
  });
});

describe('a count that is found', () => {
  /** One stream on a machine where a second thread halves a step; returns when the last one ended, milliseconds. */
  function decode(choice: ThreadChoice, steps: number, cpuShare: number, fromMs = 0): number {
    let atMs = fromMs;
    for (let step = 0; step < steps; step += 1) {
      const call = { phase: 'decode', rows: 1, depth: 0, atMs } as const;
      const threads = choice.threadsFor(call);
      const ms = 50 / threads;
      atMs += ms;
      choice.observe({ ...call, threads, ms, cpuMs: cpuShare * threads * ms, othersCores: 0 });
    }
    return atMs;
  }

  it('is one to remember after some seconds without company, and not any more once that comes', () => {
    const choice = new ThreadChoice({ counts: [1, 2], start: 2 });
    let atMs = 0;
    while (!choice.isConfirmed && atMs < MINUTE) atMs = decode(choice, 1, 1, atMs);
    expect(atMs).toBeGreaterThanOrEqual(MACHINE.confirmMs);
    expect(atMs).toBeLessThan(2 * MACHINE.confirmMs);
    atMs = decode(choice, 1, 0.5, atMs);
    expect(choice.isConfirmed, 'one slow step is an accident').toBe(true);
    decode(choice, 1, 0.5, atMs);
    expect(choice.isConfirmed, 'two in a row are another program').toBe(false);
  });
});

describe('beside a steady hog', () => {
  it('decodes on the cores that are left, which is not to be remembered', () => {
    const machine = { cores: 2, stepMs: large, hogs: () => 1, start: 2, seed: 1 };
    const { choice, ran } = simulate({ ...machine, tellsOthers: true }, MINUTE);
    expect([choice.decodeThreads, choice.isConfirmed]).toEqual([1, false]);
    const decodes = ran.filter(({ phase, fromMs }) => phase === 'decode' && fromMs > 10_000);
    const apart = decodes.filter(({ threads }) => threads === 1).length / decodes.length;
    expect(apart).toBeGreaterThan(0.95);
  });
});

describe('a single step', () => {
  it('decides nothing, however slow it was', () => {
    const choice = new ThreadChoice({ counts: [1, 2], start: 2 });
    const call = { phase: 'decode', rows: 1, depth: 0 } as const;
    const used = Array.from({ length: 200 }, (_, step) => {
      const shape = { ...call, atMs: step * 25 };
      const threads = choice.threadsFor(shape);
      const ms = step % 50 === 20 ? 900 : 50 / threads;
      choice.observe({ ...shape, threads, ms, cpuMs: ms * threads, othersCores: 0 });
      return choice.decodeThreads;
    });
    expect(new Set(used)).toEqual(new Set([2]));
  });
});

describe('readers that come and go', () => {
  /** Steps on one thread of two, which doubles them, while others use so much of a core. */
  function stepsOnOne(steps: number, othersCores: (step: number) => number): number {
    const choice = new ThreadChoice({ counts: [1, 2], start: 2 });
    let [atMs, onOne] = [0, 0];
    for (let step = 0; step < steps; step += 1) {
      const call = { phase: 'decode', rows: 1, depth: step % 100, atMs } as const;
      const threads = choice.threadsFor(call);
      const ms = 50 / threads;
      atMs += ms;
      if (threads === 1) onOne += 1;
      choice.observe({ ...call, threads, ms, cpuMs: threads * ms, othersCores: othersCores(step) });
    }
    return onOne;
  }

  it('make no trials of fewer threads, which readers would see as gaps', () => {
    const alone = stepsOnOne(4_000, () => 0);
    expect(alone).toBeGreaterThan(0);
    expect(alone).toBeLessThanOrEqual(6);
    expect(stepsOnOne(4_000, (step) => (step % 40 < 20 ? 0.5 : 0.05))).toBeLessThanOrEqual(alone);
  });
});

it('a pinned count is never left', () => {
  const choice = new ThreadChoice({ counts: [3], start: 3 });
  const ran = run(
    { cores: 8, stepMs: large, tellsOthers: true, hogs: () => 8, random: seeded(1) },
    choice,
    MINUTE,
  );
  expect(new Set(ran.map(({ threads }) => threads))).toEqual(new Set([3]));
});
