import { describe, expect, it } from 'vitest';
import type { NativeContext } from '../../native.ts';
import type { ChatModel } from '../../model.ts';
import { PlainPlanner } from '../planning/plain-planner.ts';
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
    const sequences = new Sequences(chat, new PlainPlanner());
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
