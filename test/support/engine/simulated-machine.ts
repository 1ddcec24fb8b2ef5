/**
 * A machine that steps are timed on without running any: what a call costs by its threads, and by the programs that run
 * beside it. Threads that wait for each other lose whole time slices when one of them has no core; one thread does not.
 */
import type { CallShape, ThreadChoice } from '../../../src/worker/threads/thread-choice.ts';

/** What the noise of an undisturbed step costs on average. */
const MEAN_NOISE = 1.02;

/** Busy processes at a time, milliseconds from the start. */
export type Hogs = (atMs: number) => number;

export interface Machine {
  readonly cores: number;
  /** An undisturbed decode step of one row at position 0, milliseconds by threads. */
  readonly stepMs: (threads: number) => number;
  readonly hogs: Hogs;
  /** Whether anybody says what other programs use. */
  readonly tellsOthers: boolean;
  readonly random: () => number;
}

export interface Ran {
  readonly fromMs: number;
  readonly toMs: number;
  readonly phase: 'decode' | 'prefill';
  readonly threads: number;
  readonly ms: number;
  /** What the same call takes on the same machine with the best count and nobody else. */
  readonly idealMs: number;
}

/** Milliseconds and processor time of a call on so many threads. */
export function timeOf(machine: Machine, call: CallShape, threads: number): { ms: number; cpuMs: number } {
  const { cores, hogs, random } = machine;
  const busy = hogs(call.atMs);
  const noise = 1 + 0.04 * random() + (random() < 0.005 ? random() : 0);
  const quietMs = costOf(machine, call, threads) * noise;
  if (threads + busy <= cores) return { ms: quietMs, cpuMs: quietMs * threads };
  const share = cores / (threads + busy);
  // Threads of a prefill wait for each other less often.
  const worst = call.phase === 'prefill' ? 3 : 8;
  const waits = threads === 1 ? 1 : 1 + worst * random();
  const ms = (quietMs / share) * waits;
  return { ms, cpuMs: ms * threads * share };
}

/** Answers one conversation after another until the time is up. */
export function run(machine: Machine, choice: ThreadChoice, untilMs: number): Ran[] {
  const { random } = machine;
  const clock = new SimulatedClock(machine, choice);
  while (clock.atMs < untilMs) {
    const sequences = random() < 0.5 ? 1 : 1 + Math.floor(8 * random());
    const prompt = 50 + Math.floor(1500 * random() ** 2);
    for (let depth = 0; depth < prompt; depth += 256)
      clock.step({ phase: 'prefill', rows: Math.min(256, prompt - depth), depth });
    const tokens = 30 + Math.floor(400 * random());
    for (let token = 0; token < tokens; token += 1)
      clock.step({ phase: 'decode', rows: sequences, depth: prompt + token });
    clock.atMs += 200 * random();
  }
  return clock.ran;
}

/** How often it is looked what other programs use. */
const LOOK_MS = 500;

class SimulatedClock {
  readonly ran: Ran[] = [];
  atMs = 0;
  readonly #machine: Machine;
  readonly #choice: ThreadChoice;
  #othersCores: number | null = null;
  #lookedMs = 0;
  #stepsMs = 0;
  #othersMs = 0;

  constructor(machine: Machine, choice: ThreadChoice) {
    this.#machine = machine;
    this.#choice = choice;
  }

  step(shape: Omit<CallShape, 'atMs'>): void {
    const machine = this.#machine;
    const call = { ...shape, atMs: this.atMs };
    const threads = this.#choice.threadsFor(call);
    const { ms, cpuMs } = timeOf(machine, call, threads);
    const fromMs = this.atMs;
    this.atMs += ms;
    this.#look(machine.hogs(fromMs), ms);
    this.#choice.observe({ ...call, threads, ms, cpuMs, othersCores: this.#othersCores });
    const costs = Array.from({ length: machine.cores }, (_, i) => costOf(machine, call, i + 1));
    const { phase } = call;
    this.ran.push({ fromMs, toMs: this.atMs, phase, threads, ms, idealMs: Math.min(...costs) * MEAN_NOISE });
  }

  #look(busy: number, ms: number): void {
    this.#othersMs += busy * ms;
    this.#stepsMs += ms;
    if (!this.#machine.tellsOthers || this.atMs - this.#lookedMs < LOOK_MS) return;
    this.#othersCores = this.#othersMs / this.#stepsMs + 0.1 * this.#machine.random();
    [this.#othersMs, this.#stepsMs, this.#lookedMs] = [0, 0, this.atMs];
  }
}

/** The part of the best possible throughput that was reached between two times. */
export function reached(ran: readonly Ran[], fromMs: number, toMs: number): number {
  const within = ran.filter((each) => each.fromMs >= fromMs && each.toMs <= toMs);
  const sum = (of: 'ms' | 'idealMs'): number => within.reduce((total, each) => total + each[of], 0);
  return sum('idealMs') / sum('ms');
}

function costOf(machine: Machine, { phase, rows, depth }: CallShape, threads: number): number {
  if (phase === 'prefill') return (machine.stepMs(1) * rows * (1 + depth / 1_200)) / 8 / threads ** 0.9;
  return machine.stepMs(threads) * (0.7 + 0.3 * rows) * (1 + depth / 4_000);
}
