/** Sequences that share fewer KV cells than all of their windows: answers wait for each other's cells and lose nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';

let worker: TestWorker;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ worker, end } = await startTinyChat({ numCtx: 512, parallel: 4, cells: 512, draftTokens: 0 }));
});

afterAll(() => end());

const forever = (seed: number, maxTokens: number) => ({
  prompt: { kind: 'text' as const, text: `forever and ${seed} more` },
  maxTokens,
  sampling: { temperature: 1, seed },
});

describe('four answers that need twice the cells there are', () => {
  it('all come to their end', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((seed) => worker.generate(forever(seed, 300))));
    for (const { done } of answers) {
      expect(done.finishReason).toBe('length');
      expect(done.usage.completionTokens).toBe(300);
    }
  });

  it('may each use the whole window alone, what earlier answers left notwithstanding', async () => {
    const { done } = await worker.generate({ ...forever(5, 1), maxTokens: null });
    expect(done.usage.promptTokens + done.usage.completionTokens).toBe(512);
  });
});
