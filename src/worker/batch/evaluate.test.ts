/** A step that fails, over a native context that fails on command: the real one cannot be made to. */
import { describe, expect, it } from 'vitest';
import { evaluateRows, type RowResult } from './evaluate.ts';
import type { Row } from './stream/row.ts';
import type { NativeContext } from '../native.ts';

/** `fails` says of the sequences of a batch whether it fails; the sequences in `uncuttable` refuse to be cut. */
function scripted(fails: (sequences: readonly number[]) => boolean, uncuttable: readonly number[] = []) {
  const calls: string[] = [];
  let batch: number[] = [];
  const native: Partial<NativeContext> = {
    initBatch: () => {
      batch = [];
    },
    addToBatch: (sequence) => Uint32Array.of(batch.push(sequence) - 1),
    decodeBatch: () => {
      calls.push(`decode ${batch.join()}`);
      if (fails(batch)) throw new Error(`failed on ${batch.join()}`);
    },
    cutSequence: (sequence) => !uncuttable.includes(sequence),
    clearSequence: (sequence) => {
      calls.push(`dispose ${sequence}`);
    },
  };
  return { native: native as NativeContext, calls };
}

const row = (sequence: number): Row => ({
  sequence,
  position: 3,
  tokens: Uint32Array.of(1, 2),
  logits: 1,
});

function resultsOf(native: NativeContext, rows: readonly Row[]): Record<number, RowResult> {
  const results: Record<number, RowResult> = {};
  evaluateRows(native, rows, {
    onResult: ({ sequence }, result) => {
      results[sequence] = result;
    },
  });
  return results;
}

describe('a step that fails', () => {
  it('fails only the guilty row, once each was tried alone', async () => {
    const { native, calls } = scripted((sequences) => sequences.includes(1));
    expect(resultsOf(native, [0, 1, 2].map(row))).toEqual({
      0: { logitRows: [0] },
      1: { error: new Error('failed on 1'), restored: true },
      2: { logitRows: [0] },
    });
    expect(calls).toEqual(['decode 0,1,2', 'decode 0', 'decode 1', 'decode 2']);
  });

  it('tries nothing again on top of state that could not be removed', async () => {
    const { native, calls } = scripted((sequences) => sequences.length > 1, [0]);
    expect(resultsOf(native, [0, 1].map(row))).toEqual({
      0: { error: new Error('failed on 0,1'), restored: false },
      1: { logitRows: [0] },
    });
    expect(calls).toEqual(['decode 0,1', 'decode 1']);
  });

  it('tries a lone row once', async () => {
    const { native, calls } = scripted(() => true);
    expect(resultsOf(native, [row(0)])).toEqual({
      0: { error: new Error('failed on 0'), restored: true },
    });
    expect(calls).toEqual(['decode 0']);
  });
});
