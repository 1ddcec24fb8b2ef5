import { describe, expect, it } from 'vitest';
import type { NativeContext } from '../../native.ts';
import type { ChatModel } from '../../model.ts';
import { CostModel } from '../planning/cost-model.ts';
import { rowTokens } from '../../media/rows.ts';
import { Sequences } from './sequences.ts';

describe('a sequence whose state is unknown', () => {
  it('is emptied, so that no prompt reuses it', async () => {
    const disposed: number[] = [];
    const native = {
      cutSequence: () => false,
      firstPosition: () => 0,
      clearSequence: (sequence: number) => disposed.push(sequence),
    } as Partial<Record<keyof NativeContext, unknown>> as NativeContext;
    const chat = {
      context: native,
      prefixReuse: 'checkpoints',
      sharedCells: null,
      model: { facts: { past: { holds: 'summary' } } },
      facts: { sequences: 1, contextBytes: 1_000 },
    } as ChatModel;
    const sequences = new Sequences(chat, new CostModel());
    const prompt = Uint32Array.of(1, 2, 3, 4);
    const wanted = sequences.preview({ prompt, owner: '' });
    if (wanted === null) throw new Error('no sequence is free');
    sequences.take(wanted, '');
    sequences.append(0, prompt);
    sequences.release(0, 1);
    expect(sequences.preview({ prompt, owner: '' })).toMatchObject({ keep: 3 });
    sequences.empty(0);
    expect(disposed).toEqual([0]);
    expect(sequences.preview({ prompt, owner: '' })).toMatchObject({ keep: 0 });
  });
});

it('a restore that ends inside of an image leaves nothing of the image', () => {
  const cuts: unknown[] = [];
  const native = {
    cutSequence: (...cut: unknown[]) => {
      cuts.push(cut);
      return true;
    },
    firstPosition: () => 0,
    clearSequence: () => undefined,
  } as Partial<Record<keyof NativeContext, unknown>> as NativeContext;
  const chat = {
    context: native,
    prefixReuse: 'full',
    sharedCells: null,
    model: { facts: { past: { holds: 'tokens' } } },
    facts: { sequences: 1, contextBytes: 1_000 },
  } as unknown as ChatModel;
  const sequences = new Sequences(chat, new CostModel());
  const rows = rowTokens({ digest: 'a', rows: 16, positions: 16 });
  const prompt = Uint32Array.from([1, 2, 3, ...rows, 4]);
  const wanted = sequences.preview({ prompt, owner: '' });
  if (wanted === null) throw new Error('no sequence is free');
  sequences.take(wanted, '');
  sequences.append(0, prompt.subarray(0, 10));
  expect(sequences.backToBorder(0, prompt)).toBe(3);
  expect(cuts).toHaveLength(1);
  sequences.append(0, prompt.subarray(3, 19));
  expect(sequences.backToBorder(0, prompt)).toBe(19);
  expect(cuts).toHaveLength(1);
});
