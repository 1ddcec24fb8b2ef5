import { describe, expect, it } from 'vitest';
import type { NativeContext } from '../../native.ts';
import { MODEL_DRAFT_LIMITS } from '../planning/tuning.ts';
import { DraftingModel, ModelDrafts } from './drafting-model.ts';

/** A model that counts: after token n comes n + 1. Positions that do not follow fail, as in llama.cpp. */
function countingContext() {
  const held = new Map<number, number[]>();
  const evaluated: number[] = [];
  let last = 0;
  const context: Partial<NativeContext> = {
    numCtx: 1000,
    batchTokens: 512,
    initBatch: () => undefined,
    addToBatch(sequence, position, tokens) {
      const state = held.get(sequence) ?? [];
      if (state.length !== position) throw new Error(`position ${position} does not follow ${state.length}`);
      held.set(sequence, [...state, ...tokens]);
      evaluated.push(tokens.length);
      last = tokens.at(-1) ?? 0;
      return Uint32Array.of(0);
    },
    decodeBatch: () => undefined,
    readLogits: () => ({
      of: [{ token: last + 1, logit: 1 }],
      largest: 1,
      totalWeight: () => 1,
      tokenRank: () => 1,
    }),
    cutSequence(sequence, length) {
      held.set(sequence, (held.get(sequence) ?? []).slice(0, length));
      return true;
    },
    clearSequence: (sequence) => void held.delete(sequence),
  };
  return { model: new DraftingModel(context as NativeContext), evaluated, held };
}

describe('a model that drafts', () => {
  it('continues what it is given, and evaluates only what it does not hold', () => {
    const { model, evaluated } = countingContext();
    expect(model.continue(0, [1, 2, 3], 3)).toEqual([4, 5, 6]);
    expect(evaluated).toEqual([3, 1, 1]);
    // Two drafts were right, then came another token.
    expect(model.continue(0, [1, 2, 3, 4, 5, 9], 2)).toEqual([10, 11]);
    expect(evaluated.slice(3)).toEqual([1, 1]);
  });

  it('keeps sequences apart, and begins anew after one was over', () => {
    const { model, evaluated } = countingContext();
    model.continue(0, [1, 2, 3], 1);
    expect(model.continue(1, [7, 8], 1)).toEqual([9]);
    model.forget(0);
    model.continue(0, [1, 2, 3], 1);
    expect(evaluated).toEqual([3, 2, 3]);
  });

  it('reads a long text in slices and drafts nothing meanwhile', () => {
    const { model, evaluated } = countingContext();
    const slice = MODEL_DRAFT_LIMITS.catchUpTokens;
    const text = Array.from({ length: 2 * slice + 5 }, (_, at) => at);
    expect([1, 2, 3].map(() => model.continue(0, text, 2))).toEqual([[], [], [2 * slice + 5, 2 * slice + 6]]);
    expect(evaluated).toEqual([slice, slice, 5, 1]);
  });

  it('drafts nothing when a step fails, and goes on from nothing', () => {
    const { model, held } = countingContext();
    model.continue(0, [1, 2, 3], 1);
    held.set(0, []);
    expect(model.continue(0, [1, 2, 3, 4], 1)).toEqual([]);
    expect(model.continue(0, [1, 2, 3, 4], 1)).toEqual([5]);
  });
});

describe('the drafts of one stream', () => {
  it('count how often the model was right', () => {
    const { model } = countingContext();
    const drafts = new ModelDrafts(model, { sequence: 0, prompt: Uint32Array.of(1, 2) });
    const before = drafts.hitRate;
    expect(drafts.draft(2)).toEqual([3, 4]);
    drafts.push(3);
    drafts.push(4);
    expect(drafts.hitRate).toBeGreaterThan(before);
    drafts.draft(1);
    for (let at = 0; at < 20; at += 1) {
      drafts.draft(1);
      drafts.push(100);
    }
    expect(drafts.hitRate).toBeLessThan(before);
  });
});
