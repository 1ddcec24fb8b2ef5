import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { type JobEvent, loadReason } from '../../../contract/job-event.ts';
import { RequestEntry } from './request-entry.ts';

const done = (decodeMs: number): JobEvent => ({
  type: 'done',
  finishReason: 'tool_calls',
  usage: { promptTokens: 7, cachedTokens: 0, completionTokens: 9, reasoningTokens: 0 },
  timings: { prefillMs: 10, decodeMs },
});
const started: JobEvent = { type: 'started', promptTokens: 7, cachedTokens: 0, numCtx: 64 };

describe('the entry of a request', () => {
  it('has the wait so far while the request waits, and when it ends there', async () => {
    const clock = new ManualClock(0);
    const entry = new RequestEntry(clock);
    expect(entry.counts).toEqual({});
    entry.onModel('m');
    await clock.advance(40);
    entry.onEvent({ type: 'queued', position: 1, reason: loadReason('m') });
    await clock.advance(7_000);
    expect(entry.counts).toEqual({ model: 'm', queue_ms: 40, load_ms: 7_000 });
    expect(entry.waitMs).toBeNull();
    entry.onEvent(started);
    await clock.advance(5);
    expect(entry.counts).toMatchObject({ queue_ms: 40, load_ms: 7_000 });
  });

  it('has the first token as it was sampled where the first piece was held back', async () => {
    const clock = new ManualClock(0);
    const entry = new RequestEntry(clock);
    entry.onModel('m');
    entry.onEvent(started);
    await clock.advance(71);
    entry.onEvent({ type: 'text', text: 'late' });
    expect(entry.counts.first_ms).toBe(71);
    await clock.advance(1);
    entry.onEvent(done(60));
    expect(entry.counts).toMatchObject({ first_ms: 12, decode_ms: 60, completion_tokens: 9 });
  });

  it.each([
    ['in the queue', 'first in line', 'queue_ms'],
    ['for its model', loadReason('m'), 'load_ms'],
  ])(
    'of vectors divides the time that it waited %s from the time that they took',
    async (_, reason, stage) => {
      const clock = new ManualClock(0);
      const entry = new RequestEntry(clock);
      const vector = { vector: new Float32Array(1), tokens: 3, truncated: false };
      entry.onModel('m');
      await clock.advance(10);
      entry.onEvent({ type: 'queued', position: 1, reason });
      await clock.advance(90);
      // The first vector comes 30 ms after its step began.
      entry.onEvent({ type: 'embedding', index: 0, ...vector });
      expect(entry.counts[stage as 'queue_ms' | 'load_ms']).toBe(reason === loadReason('m') ? 90 : 100);
      await clock.advance(50);
      entry.onEvent({ type: 'embedded', totalTokens: 6, computeMs: 80 });
      expect(entry.counts).toMatchObject({ prefill_ms: 80, prompt_tokens: 6 });
      expect(entry.waitMs).toBe(70);
      expect(entry.counts.queue_ms).toBe(reason === loadReason('m') ? 10 : 70);
    },
  );

  it('counts joined pieces of an answer that was cut off', () => {
    const entry = new RequestEntry(new ManualClock(0));
    entry.onEvent(started);
    entry.onEvent({ type: 'text', text: 'a' });
    entry.onEvent({ type: 'reasoning', text: 'bcd', pieces: 3 });
    expect(entry.counts.completion_tokens).toBe(4);
  });

  it('keeps the first piece where it came earlier than what is told of the whole', async () => {
    const clock = new ManualClock(0);
    const entry = new RequestEntry(clock);
    entry.onEvent(started);
    await clock.advance(20);
    entry.onEvent({ type: 'text', text: 'soon' });
    await clock.advance(100);
    entry.onEvent(done(60));
    expect(entry.counts.first_ms).toBe(20);
  });
});
