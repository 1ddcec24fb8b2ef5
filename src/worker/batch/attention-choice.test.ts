import { describe, expect, it } from 'vitest';
import { type AttentionKind, CostModel } from './planning/cost-model.ts';
import { COSTS } from './planning/tuning.ts';
import { AttentionChoice, type StreamWork } from './attention-choice.ts';

/** What a step of a simulated machine takes, milliseconds. */
interface Machine {
  readonly emptyMs: number;
  /** A cell, for a row that is evaluated alone. */
  readonly cellMs: Readonly<Record<AttentionKind, number>>;
  /** A cell, for a row of a prompt. */
  readonly readMs: Readonly<Record<AttentionKind, number>>;
  readonly changeMs: number;
}

/** Two Intel cores, 0.6B parameters: bench/LOG.md, "attention by depth". */
const INTEL: Machine = {
  emptyMs: 31,
  cellMs: { flash: 0.033, plain: 0.0106 },
  readMs: { flash: 0.0024, plain: 0.0034 },
  changeMs: 1_000,
};
const firstMs = { flash: 1, plain: 1.12 };

interface Turn {
  readonly toRead: number;
  readonly toWrite: number;
  /** Absent: twice what it does write. */
  readonly mayWrite?: number;
  /** Streams that do the same beside each other. */
  readonly streams?: number;
}

const BYTES_PER_CELL = 114_688;

/** One conversation, each turn behind the last. */
class Simulation {
  readonly costs = new CostModel({ bytesPerCell: BYTES_PER_CELL, readsByTile: true });
  readonly choice = new AttentionChoice(this.costs);
  changes = 0;
  ms = 0;
  /** The same turns with flash attention only. */
  flashMs = 0;
  #depth = 0;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  turn({ toRead, toWrite, mayWrite = 2 * toWrite, streams = 1 }: Turn): void {
    this.#consider({ streams, toRead, mayWrite, written: 0 });
    this.#read(toRead, streams);
    for (let written = 0; written < toWrite; written += 1) {
      this.#consider({ streams, toRead: 0, mayWrite: mayWrite - written, written });
      const ms = this.#stepMs(this.choice.now, streams);
      this.ms += ms;
      this.flashMs += this.#stepMs('flash', streams);
      const cells = this.choice.now === 'flash' ? this.#depth : this.#depth * streams;
      this.costs.observe({ phase: 'decode', rows: streams, cells }, ms);
      this.#depth += 1;
    }
  }

  #read(tokens: number, streams: number): void {
    const rowMs = { flash: 5, plain: 6 };
    for (let at = 0; at < tokens; at += 64) {
      const rows = Math.min(64, tokens - at);
      const cells = this.#depth + rows / 2;
      const msWith = (attention: AttentionKind): number =>
        rows * (rowMs[attention] + this.#machine.readMs[attention] * cells);
      const ms = msWith(this.choice.now);
      for (let stream = 0; stream < streams; stream += 1)
        this.costs.observe({ phase: 'prefill', rows, cells }, ms);
      this.ms += streams * ms;
      this.flashMs += streams * msWith('flash');
      this.#depth += rows;
    }
  }

  #stepMs(now: AttentionKind, streams: number): number {
    const { emptyMs, cellMs } = this.#machine;
    const depth = this.#depth * streams;
    const shared = streams ** (now === 'flash' ? 0 : 0.6);
    return emptyMs * firstMs[now] + cellMs[now] * depth * shared;
  }

  #consider({ streams, ...work }: { streams: number } & Omit<StreamWork, 'depth'>): void {
    const depth = this.#depth;
    const { changeMs, emptyMs } = this.#machine;
    const all = Array.from({ length: streams }, () => ({ depth, ...work }));
    const cells = depth * streams;
    if (this.choice.wantsEmpty(all)) this.costs.observe({ phase: 'decode', rows: 1, cells: 0 }, emptyMs);
    this.choice.countStep(all, cells);
    if (!this.choice.isWorthChanging({ streams: all, cells, changeMs })) return;
    this.choice.changed();
    this.changes += 1;
    this.ms += changeMs;
  }
}

function simulated(turns: readonly Turn[], machine = INTEL): Simulation {
  const simulation = new Simulation(machine);
  for (const turn of turns) simulation.turn(turn);
  return simulation;
}

/** After steps with flash attention behind 3,000 tokens, and one behind nothing. */
function deep(share = 1): { costs: CostModel; choice: AttentionChoice } {
  const costs = new CostModel({ bytesPerCell: BYTES_PER_CELL, readsByTile: true });
  observe(costs, 9, 130 * share);
  observe(costs, 1, INTEL.emptyMs * share, 0);
  return { costs, choice: new AttentionChoice(costs) };
}

function observe(costs: CostModel, steps: number, ms: number, cells = 3_000): void {
  for (let step = 0; step < steps; step += 1) costs.observe({ phase: 'decode', rows: 1, cells }, ms);
}

const times = (count: number, turn: Turn): Turn[] => Array.from({ length: count }, () => turn);

describe('attention', () => {
  it('stays as it is for short answers to short prompts', () => {
    const simulation = new Simulation(INTEL);
    simulation.turn({ toRead: 40, toWrite: 200 });
    expect(simulation.changes).toBe(0);
    expect(simulation.ms).toBe(simulation.flashMs);
  });

  it('changes once in a long conversation, which ends in less than two thirds of the time', () => {
    const { changes, ms, flashMs } = simulated([
      { toRead: 3_000, toWrite: 200 },
      ...times(10, { toRead: 100, toWrite: 200 }),
    ]);
    expect(changes).toBe(1);
    expect(ms).toBeLessThan(0.66 * flashMs);
  });

  it('changes back for a long prompt, and again for the answer', () => {
    const simulation = simulated([{ toRead: 3_000, toWrite: 300 }]);
    expect(simulation.choice.now).toBe('plain');
    simulation.turn({ toRead: 300, toWrite: 100 });
    expect(simulation.choice.now).toBe('plain');
    simulation.turn({ toRead: 2_500, toWrite: 1 });
    expect(simulation.choice.now).toBe('flash');
    simulation.turn({ toRead: 0, toWrite: 300 });
    expect(simulation.choice.now).toBe('plain');
  });

  it('does not change for many streams, each of which would read the cells of all', () => {
    const simulation = simulated([{ toRead: 3_000, toWrite: 9 }]);
    const before = simulation.choice.now;
    expect(before).toBe('flash');
    simulation.turn({ toRead: 0, toWrite: 200, streams: 8 });
    expect(simulation.changes).toBe(0);
  });

  it('does not change for an answer of a few tokens', () => {
    const { choice } = deep();
    const stream = { depth: 3_000, toRead: 0, written: 20 };
    const state = { cells: 3_000, changeMs: 1_000 };
    expect(choice.isWorthChanging({ streams: [{ ...stream, mayWrite: 5 }], ...state })).toBe(false);
    expect(choice.isWorthChanging({ streams: [{ ...stream, mayWrite: 500 }], ...state })).toBe(true);
  });

  it('does not change for less than anybody would notice', () => {
    const isWorth = (share: number): boolean => {
      const { choice } = deep(share);
      const streams = [{ depth: 3_000, toRead: 0, mayWrite: 128, written: 0 }];
      return choice.isWorthChanging({ streams, cells: 3_000, changeMs: 1 });
    };
    expect([isWorth(1), isWorth(0.2), isWorth(0.01)]).toEqual([true, true, false]);
  });

  it('asks for a step behind nothing where all that it saw was deep, and does not change before', () => {
    const costs = new CostModel({ bytesPerCell: BYTES_PER_CELL });
    const choice = new AttentionChoice(costs);
    const streams = [{ depth: 3_000, toRead: 0, mayWrite: 5_000, written: 20 }];
    const answers = (): boolean[] => [
      choice.wantsEmpty(streams),
      choice.isWorthChanging({ streams, cells: 3_000, changeMs: 1 }),
    ];
    expect(answers()).toEqual([false, false]);
    observe(costs, 9, 130);
    expect(answers()).toEqual([true, false]);
    observe(costs, 1, INTEL.emptyMs, 0);
    expect(answers()).toEqual([false, true]);
  });

  it('asks for none where the conversation is short', () => {
    const costs = new CostModel();
    observe(costs, 9, 40, 500);
    const streams = [{ depth: 500, toRead: 0, mayWrite: 5_000, written: 20 }];
    expect(new AttentionChoice(costs).wantsEmpty(streams)).toBe(false);
  });

  it('changes where that spares two and a half times what it takes, and three times where several answers wait', () => {
    const { choice, costs } = deep();
    const stream = { depth: 3_000, toRead: 0, mayWrite: 100, written: 20 };
    for (const [rows, worth] of [
      [1, 2.5],
      [2, 3],
    ] as const) {
      const streams = Array.from({ length: rows }, () => stream);
      const [flash, plain] = (['flash', 'plain'] as const).map((attention) =>
        costs.predict({ phase: 'decode', rows, cells: 3_000, attention }),
      );
      const mostMs = (100 * ((flash ?? 0) - (plain ?? 0))) / worth;
      const isWorth = (changeMs: number): boolean =>
        choice.isWorthChanging({ streams, cells: 3_000, changeMs });
      expect([isWorth(0.99 * mostMs), isWorth(1.01 * mostMs)]).toEqual([true, false]);
    }
  });

  it('believes what a change showed, and tries again much later', () => {
    const { choice, costs } = deep();
    const streams = [{ depth: 3_000, toRead: 0, mayWrite: 128, written: 0 }];
    const isWorth = (): boolean => choice.isWorthChanging({ streams, cells: 3_000, changeMs: 500 });
    expect(isWorth()).toBe(true);
    choice.changed();
    observe(costs, 9, 131);
    choice.changed();
    observe(costs, 9, 130);
    expect(isWorth()).toBe(false);
    observe(costs, COSTS.forgottenAfter, 130);
    expect(choice.wantsEmpty(streams)).toBe(true);
    observe(costs, 1, INTEL.emptyMs, 0);
    expect(isWorth()).toBe(true);
  });

  it('loses little on a machine where it is no better without flash attention', () => {
    const none: Machine = { ...INTEL, cellMs: { flash: 0.0106, plain: 0.0106 } };
    const { ms, flashMs } = simulated(times(60, { toRead: 100, toWrite: 150 }), none);
    expect(ms).toBeLessThan(1.05 * flashMs);
  });
});

describe('an answer of 96 tokens behind 1,800', () => {
  /** A step takes 25 ms at first, and so much more behind 1,800 tokens. */
  const machine = (deeperMs: number, plainShare: number): Machine => ({
    emptyMs: 25,
    cellMs: { flash: deeperMs / 1_800, plain: (plainShare * deeperMs) / 1_800 },
    readMs: INTEL.readMs,
    changeMs: 900,
  });

  it.each([
    ['a machine where cells cost little', machine(20, 0.4)],
    ['one where they cost more without flash attention', machine(35, 0.7)],
  ])('is not worth a change on %s', (_, each) => {
    const turns = [
      { toRead: 80, toWrite: 16 },
      { toRead: 1_800, toWrite: 96, mayWrite: 96 },
    ];
    expect(simulated(turns, each).changes).toBe(0);
  });
});
