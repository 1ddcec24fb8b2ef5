/** How far a prompt is evaluated, told while it is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RecordedWorker, startRecordedChat } from '../support/engine/recorded-worker.ts';
import { generateJob } from '../support/engine/jobs.ts';
import { collect } from '../support/engine/worker-harness.ts';

let recorded: RecordedWorker;

beforeAll(async () => {
  recorded = await startRecordedChat({ numCtx: 2048, parallel: 2, draftTokens: 0 });
});

afterAll(() => recorded.end());

const prompt = { kind: 'text' as const, text: 'the time and the place '.repeat(80) };
const progressOf = async (reportsProgress: boolean) =>
  (await collect(recorded.worker.run(generateJob({ prompt, maxTokens: 2, reportsProgress })))).events.filter(
    (event) => event.type === 'progress',
  );

it('begins with what was there, grows, and ends with the whole prompt', async () => {
  const first = await progressOf(true);
  expect(first.length).toBeGreaterThan(1);
  const [opening] = first;
  expect(opening).toMatchObject({ cachedTokens: 0, evaluatedTokens: 0 });
  for (const [at, { evaluatedTokens, promptTokens, elapsedMs }] of first.entries()) {
    expect(promptTokens).toBe(opening?.promptTokens);
    expect(elapsedMs).toBeGreaterThanOrEqual(0);
    if (at > 0) expect(evaluatedTokens).toBeGreaterThan(first[at - 1]?.evaluatedTokens ?? 0);
  }
  expect(first.at(-1)?.evaluatedTokens).toBe(opening?.promptTokens);
  const [again] = await progressOf(true);
  expect(again?.cachedTokens).toBeGreaterThan(0);
  expect(again?.evaluatedTokens).toBe(again?.cachedTokens);
});

it('is not told unasked', async () => {
  expect(await progressOf(false)).toEqual([]);
});
