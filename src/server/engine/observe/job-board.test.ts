import { expect, it } from 'vitest';
import { watchSpeeds } from './job-board.ts';

it('is that of the latest answer, and of none that was too short to tell', () => {
  const speeds = watchSpeeds();
  const answer = (completionTokens: number, decodeMs: number): void => {
    const usage = { promptTokens: 1, cachedTokens: 0, completionTokens, reasoningTokens: 0 };
    const job = speeds.watchJob({
      jobId: 'j',
      kind: 'generate',
      modelId: 'm',
      clientName: '',
      isFrozen: false,
    });
    job.onEvent({ type: 'done', finishReason: 'stop', usage, timings: { prefillMs: 1, decodeMs } });
    job.onEnd(null);
  };
  expect(speeds.of('m')).toBeNull();
  answer(20, 500);
  answer(30, 1000);
  answer(2, 1);
  expect([speeds.of('m'), speeds.of('other')]).toEqual([30, null]);
});
