import { describe, expect, it } from 'vitest';
import { AttentionChoice, type Attending } from './attention-choice.ts';

/** What a step of a simulated machine takes, milliseconds. */
interface Machine {
  readonly emptyMs: number;
  /** A cell, for a row that is evaluated alone. */
  readonly cellMs: Readonly<Record<Attending, number>>;
  /** A cell, for a row of a prompt. */
  readonly readMs: Readonly<Record<Attending, number>>;
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
  /** Streams that do the same beside each other. */
  readonly streams?: number;
}

/** One conversation, each turn behind the last. */
class Simulation {
  readonly choice: AttentionChoice;
  changes = 0;
  ms = 0;
  /** The same turns with flash attention only. */
  flashMs = 0;
  #depth = 0;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.choice = new AttentionChoice();
  }

  turn({ toRead, toWrite, streams = 1 }: Turn): void {
    const { readMs } = this.#machine;
    const mayWrite = 2 * toWrite;
    this.#consider({ streams, toRead, mayWrite, written: 0 });
    const cellsRead = streams * toRead * (this.#depth + toRead / 2);
    this.ms += cellsRead * readMs[this.choice.now] + (this.choice.now === 'plain' ? streams * toRead : 0);
    this.flashMs += cellsRead * readMs.flash;
    this.#depth += toRead;
    for (let written = 0; written < toWrite; written += 1) {
      this.#consider({ streams, toRead: 0, mayWrite: mayWrite - written, written });
      const ms = this.#stepMs(this.choice.now, streams);
      this.ms += ms;
      this.flashMs += this.#stepMs('flash', streams);
      const cells = this.#depth * streams;
      if (streams === 1) this.choice.observe({ depth: this.#depth, cells, ms });
      if (this.choice.wantsEmpty) this.choice.observeEmpty(this.#machine.emptyMs);
      this.#depth += 1;
    }
  }

  #stepMs(now: Attending, streams: number): number {
    const { emptyMs, cellMs } = this.#machine;
    const depth = this.#depth * streams;
    const shared = streams ** (now === 'flash' ? 0 : 0.6);
    return emptyMs * firstMs[now] + cellMs[now] * depth * shared;
  }

  #consider({
    streams,
    ...work
  }: {
    streams: number;
    toRead: number;
    mayWrite: number;
    written: number;
  }): void {
    const depth = this.#depth;
    const { changeMs } = this.#machine;
    const all = Array.from({ length: streams }, () => ({ depth, ...work }));
    if (!this.choice.isWorthChanging({ streams: all, cells: depth * streams, changeMs })) return;
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

/** Steps with flash attention behind 3,000 tokens. */
function deep(): AttentionChoice {
  const choice = new AttentionChoice();
  for (let step = 0; step < 9; step += 1) choice.observe({ depth: 3_000, cells: 3_000, ms: 130 });
  return choice;
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
    const choice = deep();
    choice.observeEmpty(INTEL.emptyMs);
    const stream = { depth: 3_000, toRead: 0, written: 20 };
    const state = { cells: 3_000, changeMs: 1_000 };
    expect(choice.isWorthChanging({ streams: [{ ...stream, mayWrite: 5 }], ...state })).toBe(false);
    expect(choice.isWorthChanging({ streams: [{ ...stream, mayWrite: 500 }], ...state })).toBe(true);
  });

  it('does not change for less than anybody would notice', () => {
    const isWorth = (share: number): boolean => {
      const choice = new AttentionChoice();
      for (let step = 0; step < 9; step += 1) choice.observe({ depth: 3_000, cells: 3_000, ms: 130 * share });
      choice.observeEmpty(INTEL.emptyMs * share);
      const streams = [{ depth: 3_000, toRead: 0, mayWrite: 128, written: 0 }];
      return choice.isWorthChanging({ streams, cells: 3_000, changeMs: 1 });
    };
    expect([isWorth(1), isWorth(0.2), isWorth(0.01)]).toEqual([true, true, false]);
  });

  it('asks for a step behind nothing where all that it saw was deep, and does not change before', () => {
    expect(new AttentionChoice().wantsEmpty).toBe(false);
    const choice = deep();
    const streams = [{ depth: 3_000, toRead: 0, mayWrite: 5_000, written: 20 }];
    expect(choice.wantsEmpty).toBe(true);
    expect(choice.isWorthChanging({ streams, cells: 3_000, changeMs: 1 })).toBe(false);
    choice.observeEmpty(INTEL.emptyMs);
    expect(choice.wantsEmpty).toBe(false);
    expect(choice.isWorthChanging({ streams, cells: 3_000, changeMs: 1 })).toBe(true);
  });

  it('does not change where several answers would wait for a gain of less than three times the change', () => {
    const choice = deep();
    choice.observeEmpty(INTEL.emptyMs);
    const stream = { depth: 1_500, toRead: 0, mayWrite: 500, written: 20 };
    const isWorth = (streams: number, changeMs: number): boolean =>
      choice.isWorthChanging({
        streams: Array.from({ length: streams }, () => stream),
        cells: 3_000,
        changeMs,
      });
    const most = [1, 2].map((streams) => {
      let changeMs = 1;
      while (isWorth(streams, changeMs + 1)) changeMs += 1;
      return changeMs;
    });
    // Both read 3,000 cells without flash attention, and rows share a pass.
    expect(most[0]).toBeGreaterThan(500);
    expect(most[1]).toBeLessThan((most[0] ?? 0) / 2);
    expect(most[1]).toBeGreaterThan(1);
  });

  it('believes what a change showed, and tries again much later', () => {
    const choice = deep();
    choice.observeEmpty(INTEL.emptyMs);
    const streams = [{ depth: 3_000, toRead: 0, mayWrite: 128, written: 0 }];
    const isWorth = (): boolean => choice.isWorthChanging({ streams, cells: 3_000, changeMs: 500 });
    expect(isWorth()).toBe(true);
    choice.changed();
    for (let step = 0; step < 9; step += 1) choice.observe({ depth: 3_000, cells: 3_000, ms: 131 });
    choice.changed();
    for (let step = 0; step < 9; step += 1) choice.observe({ depth: 3_000, cells: 3_000, ms: 130 });
    expect(isWorth()).toBe(false);
    for (let step = 0; step < 4_096; step += 1) choice.observe({ depth: 3_000, cells: 3_000, ms: 130 });
    expect(isWorth()).toBe(true);
  });

  it('loses little on a machine where it is no better without flash attention', () => {
    const none: Machine = { ...INTEL, cellMs: { flash: 0.0106, plain: 0.0106 } };
    const { ms, flashMs } = simulated(times(60, { toRead: 100, toWrite: 150 }), none);
    expect(ms).toBeLessThan(1.05 * flashMs);
  });
});
