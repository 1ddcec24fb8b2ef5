import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';

let worker: TestWorker;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ worker, end } = await startTinyChat({ numCtx: 512, parallel: 2 }));
});

afterAll(() => end());

const overflow = (text: string) => worker.generate({ prompt: { kind: 'text', text }, maxTokens: 1 });

describe('a prompt that cannot fit', () => {
  it('is refused unread when its length alone says so', async () => {
    await expect(overflow('word '.repeat(1_000_000))).rejects.toThrow(/context_overflow .*"atLeast":true/);
  });

  it('is counted exactly when it might have fitted', async () => {
    await expect(overflow('a b c '.repeat(200))).rejects.toThrow(
      /context_overflow (?!.*atLeast).*"numCtx":512/,
    );
  });
});
