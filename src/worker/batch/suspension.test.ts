import { beforeEach, expect, it } from 'vitest';
import type { ChatModel } from '../model.ts';
import type { NativeContext } from '../native.ts';
import { CostModel } from './planning/cost-model.ts';
import { cellsFilled, type PlannedRow, type StepPlan } from './planning/step-planner.ts';
import { Sequences } from './sequences/sequences.ts';
import { Suspension } from './suspension.ts';

const CELLS = 300;
const STATE = new Uint8Array();

interface Answer {
  readonly sequence: number;
  remaining: number;
  suspend(): void;
}

let sequences: Sequences;
let suspension: Suspension<Answer>;
let holdsCells: boolean;
let happened: string[];

beforeEach(() => {
  happened = [];
  holdsCells = false;
  const context: Partial<NativeContext> = {
    appendsState: true,
    cutSequence: () => true,
    clearSequence: (sequence) => void happened.push(`${sequence} is emptied`),
    loadSequence: () => true,
    appendSequence: () => true,
  };
  const facts = { sequences: 4, contextBytes: 1 };
  const chat = { context, facts, prefixReuse: 'full', sharedCells: CELLS } as ChatModel;
  sequences = new Sequences(chat, new CostModel());
  suspension = new Suspension(sequences, {
    get holdsCells() {
      return holdsCells;
    },
  });
});

const tokens = (count: number): Uint32Array => new Uint32Array(count);

function answer(sequence: number, held: number): Answer {
  sequences.reserve(sequence, '');
  sequences.append(sequence, tokens(held));
  const suspended = (): void => void happened.push(`${sequence} is suspended`);
  return { sequence, remaining: 0, suspend: suspended };
}

function idle(sequence: number, held: number): void {
  answer(sequence, held);
  sequences.release(sequence, 1);
}

const row = ({ sequence }: Answer, padding = 0): PlannedRow => ({
  kind: 'decode',
  sequence,
  position: 0,
  tokens: 2,
  padding,
});

const planOf = (rows: PlannedRow[]): StepPlan => ({ calls: [{ phase: 'decode', rows, expectedMs: 1 }] });

function planned(answers: readonly Answer[], padding = 0): StepPlan {
  return suspension.planWithRoom(answers, (running) => planOf(running.map((each) => row(each, padding))));
}

it('suspends the youngest as long as there is no room, and lets it go on once there is', () => {
  const answers = [answer(0, 190), answer(1, 60), answer(2, 49)];
  expect(cellsFilled(planned(answers))).toBe(4);
  expect(happened).toEqual(['2 is suspended', '2 is emptied']);
  suspension.resume();
  expect(suspension.running(answers)).toEqual(answers.slice(0, 2));
  sequences.empty(0);
  suspension.resume();
  expect(suspension.running(answers)).toEqual(answers);
});

it('takes what idle sequences hold before an answer waits', () => {
  idle(3, 100);
  const answers = [answer(0, 140), answer(1, 60)];
  expect(cellsFilled(planned(answers))).toBe(4);
  expect(happened).toEqual(['3 is emptied']);
});

it('gives up padding before the state of anybody', () => {
  idle(3, 50);
  const answers = [answer(0, 140), answer(1, 60)];
  expect(cellsFilled(planned(answers, 10))).toBe(24);
  for (const padding of [40, 63]) expect(cellsFilled(planned(answers, padding))).toBe(4);
  expect(happened).toEqual([]);
  sequences.append(1, tokens(48));
  expect(cellsFilled(planned(answers, 63))).toBe(4);
  expect(happened).toEqual(['3 is emptied']);
});

it('evaluates nothing while a restore holds cells that are missing', () => {
  const one = answer(0, 99);
  answer(1, 200);
  holdsCells = true;
  expect(planned([one])).toEqual({ calls: [] });
  expect(happened).toEqual([]);
});

it('a restore takes no cells that answers beside it need soon', () => {
  const one = answer(0, 100);
  sequences.reserve(1, '');
  const taker = sequences.takerFor(1, tokens(256));
  expect(taker.take(STATE, 128)).toBe(true);
  sequences.append(one.sequence, tokens(10));
  expect(taker.take(STATE, 62)).toBe(false);
  sequences.release(one.sequence, 1);
  sequences.empty(one.sequence);
  expect(taker.take(STATE, 128)).toBe(true);
});
