/** What a step evaluates, over stand-ins for running answers: real ones decide nothing here, they say how far they are. */
import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../model.ts';
import type { Running } from '../running.ts';
import type { Sequences } from '../sequences.ts';
import { type StepPlan, StepPlanner } from './step-planner.ts';

interface Chat {
  prefixReuse?: 'full' | 'checkpoints';
  gpuLayers?: number;
  draftTokens?: number;
  numCtx?: number;
}

function planner({
  prefixReuse = 'full',
  gpuLayers = 0,
  draftTokens = 15,
  numCtx = 4096,
}: Chat = {}): StepPlanner {
  const facts = { numCtx, gpuLayers, threads: 2, calibration: [{ threads: 2, tokensPerS: 25 }] };
  const chat = { facts, prefixReuse, spec: { draftTokens } } as unknown as ChatModel;
  const sequences = {
    canFill: () => true,
    fillerRow: (sequence: number, rows: number) => ({
      sequence,
      position: 0,
      tokens: Uint32Array.of(0),
      logits: 0,
      padding: rows - 1,
    }),
  } as unknown as Sequences;
  const made = new StepPlanner(chat, sequences);
  // A prompt was read before, so that the price of its rows is known.
  const row = { sequence: 0, position: 0, tokens: new Uint32Array(64), logits: 1 };
  made.sawSlices([{ owner: undefined, row }], 200);
  return made;
}

const running = (sequence: number, fields: object): Running =>
  ({
    sequence,
    arrivedMs: 0,
    said: 5,
    firstTokenMs: 0,
    passOver: () => {},
    draftStream: () => ({ guessable: 0, hitRate: 0 }),
    ...fields,
  }) as unknown as Running;

function reading(sequence: number, position: number, remaining: number): Running {
  return running(sequence, {
    decoding: false,
    position,
    remaining,
    promptWait: { sequence, position, remaining, passedOver: 0 },
    promptRow: (length: number, padding: number) => ({
      sequence,
      position,
      tokens: new Uint32Array(length),
      logits: length === remaining ? 1 : 0,
      padding,
    }),
  });
}

function decoding(sequence: number, hitRate = 0, position = 100): Running {
  return running(sequence, {
    decoding: true,
    position,
    draftStream: (most: number) => ({ guessable: hitRate > 0 ? most : 0, hitRate }),
    decodeRow: (more: number) => ({
      sequence,
      position,
      tokens: new Uint32Array(hitRate > 0 ? 1 + more : 1),
      logits: 1,
      guessed: hitRate > 0 ? more : 0,
      padding: hitRate > 0 ? 0 : more,
    }),
  });
}

/** Sequence and rows, padding included. */
const shape = ({ decodeRows, slices }: StepPlan) => {
  const of = (rows: StepPlan['slices']) =>
    rows.map(({ row }) => [row.sequence, row.tokens.length + (row.padding ?? 0)]);
  return { decodeRows: of(decodeRows), slices: of(slices) };
};

describe('the plan of a step', () => {
  it('pads the end of a deep prompt to a tile, where its memory can be cut and no GPU computes it', () => {
    const deep = [reading(0, 1500, 40)];
    expect(shape(planner().plan(deep)).slices).toEqual([[0, 64]]);
    expect(shape(planner({ gpuLayers: 1 }).plan(deep)).slices).toEqual([[0, 40]]);
    expect(shape(planner({ prefixReuse: 'checkpoints' }).plan(deep)).slices).toEqual([[0, 40]]);
  });

  it('keeps decode rows and slices apart, but a prompt of one token with the decode rows', () => {
    const plan = planner().plan([decoding(0), decoding(1), reading(2, 50, 1), reading(3, 0, 30)]);
    expect(shape(plan)).toEqual({
      decodeRows: [
        [0, 1],
        [1, 1],
        [2, 1],
      ],
      slices: [[3, 30]],
    });
  });

  it('gives a stream that is mostly right guesses, and its neighbours as many rows', () => {
    const [own] = shape(planner().plan([decoding(0, 1)])).decodeRows;
    expect(own?.[1]).toBeGreaterThan(4);
    const together = shape(planner().plan([decoding(0, 1), decoding(1, 1), decoding(2, 1)])).decodeRows;
    expect(new Set(together.map(([, rows]) => rows)).size).toBe(1);
    expect(together[0]?.[1]).toBeGreaterThan(1);
  });

  it('guesses nothing while a prompt is read, which somebody waits for', () => {
    const { decodeRows, slices } = shape(planner().plan([decoding(0, 1), reading(1, 0, 30)]));
    expect(decodeRows).toEqual([[0, 1]]);
    expect(slices).toEqual([[1, 30]]);
  });

  it('guesses nothing where it is switched off, nor beyond the context, nor where nothing can be cut', () => {
    const rows = (chat: Chat, position = 100) =>
      shape(planner(chat).plan([decoding(0, 1, position)])).decodeRows[0]?.[1];
    expect(rows({ draftTokens: 0 })).toBe(1);
    expect(rows({ prefixReuse: 'checkpoints' })).toBe(1);
    expect(rows({ numCtx: 104 })).toBe(4);
    expect(rows({ numCtx: 101 })).toBe(1);
  });
});
