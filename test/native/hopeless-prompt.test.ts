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
    await expect(overflow('word '.repeat(1_000_000))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      detail: { atLeast: true },
    });
  });

  it('is counted exactly when it might have fitted', async () => {
    const refused = await overflow('a b c '.repeat(200)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'context_length_exceeded', detail: { numCtx: 512 } });
    expect(refused).not.toHaveProperty('detail.atLeast');
  });
});
