/** What the native context is given step by step, and what the server hears of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  callsOf,
  messagesOf,
  type RecordedRows,
  type RecordedWorker,
  startRecordedChat,
} from '../support/engine/recorded-worker.ts';
import { generateJob } from '../support/engine/jobs.ts';
import { collect } from '../support/engine/worker-harness.ts';

let recorded: RecordedWorker;

beforeAll(async () => {
  // Without drafts, so that each step gives each stream one token.
  recorded = await startRecordedChat({ numCtx: 1024, parallel: 4, draftTokens: 0 });
});

afterAll(() => recorded.end());

const text = (content: string) => ({ kind: 'text' as const, text: content });

describe('the messages of the batch loop', () => {
  it('carry all events of a step together, whatever their number of streams', async () => {
    const { worker, during } = recorded;
    const jobs = Array.from({ length: 4 }, () =>
      generateJob({ prompt: text('forever'), maxTokens: 300, sampling: { temperature: 1, seed: 5 } }),
    );
    const record = await during(() => Promise.all(jobs.map((job) => collect(worker.run(job)))));
    const counts = messagesOf(record).map(({ events }) =>
      jobs.map(
        ({ jobId }) => events.filter((event) => event.jobId === jobId && event.type === 'text').length,
      ),
    );
    const shared = counts.filter((perJob) => perJob.every((count) => count > 0));
    // In the first of them the last stream may only just have begun, in the last one the first may have ended.
    for (const perJob of shared.slice(1, -1))
      expect(Math.max(...perJob) - Math.min(...perJob)).toBeLessThanOrEqual(1);
    const inShared = shared.flat().reduce((sum, count) => sum + count, 0);
    const all = counts.flat().reduce((sum, count) => sum + count, 0);
    expect(inShared).toBeGreaterThan(all / 2);
  });
});

describe('an answer that is read as a whole', () => {
  it('crosses in few events, which say the same as those of a stream', async () => {
    const { worker, during } = recorded;
    const fields = { prompt: text('forever'), maxTokens: 200, sampling: { temperature: 1, seed: 5 } };
    const [stream, whole] = [generateJob(fields), generateJob({ ...fields, isWhole: true })];
    const read = await collect(worker.run(stream));
    const record = await during(async () => expect((await collect(worker.run(whole))).text).toBe(read.text));
    const texts = messagesOf(record)
      .flatMap(({ events }) => events)
      .filter(({ jobId, type }) => jobId === whole.jobId && type === 'text');
    // The first piece by itself, then 32 at a time.
    expect(texts.length).toBeLessThanOrEqual(2 + Math.ceil(200 / 32));
    expect(texts.length).toBeGreaterThan(1);
  });
});

describe('a long prompt that arrives while a stream decodes', () => {
  it('is prefilled in chunks, with a token of the stream between any two of them', async () => {
    const { worker, during } = recorded;
    const stream = worker.run(
      generateJob({ prompt: text('forever'), maxTokens: 600, sampling: { temperature: 1, seed: 5 } }),
    );
    const record = await during(async () => {
      await stream.next();
      await worker.generate({ prompt: text('the time and the place '.repeat(100)), maxTokens: 1 });
      await collect(stream);
    });
    const calls = callsOf(record);
    const isChunk = (rows: RecordedRows): boolean => rows.rows > 1;
    const chunks = calls.flatMap((call, at) => (call.some(isChunk) ? [at] : []));
    expect(chunks.length).toBeGreaterThan(1);
    const streamed = calls.find((call) => call.length === 1 && !call.some(isChunk))?.[0]?.sequence;
    for (const [i, at] of chunks.slice(1).entries()) {
      const between = calls.slice((chunks[i] ?? 0) + 1, at).flat();
      expect(between.filter(({ sequence, rows }) => sequence === streamed && rows === 1)).not.toEqual([]);
    }
  });
});
