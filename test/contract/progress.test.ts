/** What a stream says while its client waits: in line, while the model is loaded, while the prompt is read. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import { done, queued, type Step, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const model = installed.chat;
const messages = [{ role: 'user', content: 'Hello' }];
const read = (elapsedMs: number, evaluatedTokens: number): JobEvent => ({
  type: 'progress',
  promptTokens: 7,
  cachedTokens: 0,
  evaluatedTokens,
  elapsedMs,
});
const script: Step[] = [
  queued(2),
  queued(1, 'loading model tiny'),
  started(),
  read(0, 0),
  read(2_000, 2),
  read(2_100, 3),
  read(7_000, 7),
  text('Hi'),
  done(),
];
const COMMENTS = [
  ': queued 2: another answer is running',
  ': queued 1: loading model tiny',
  ': processing the prompt: 28% of 7 tokens, about 5 s left',
];
const commentsOf = (sent: string): string[] => sent.split('\n').filter((line) => line.startsWith(':'));

describe.each<[string, object]>([
  ['/v1/chat/completions', { messages }],
  ['/v1/completions', { prompt: 'Hello' }],
  ['/v1/responses', { input: 'Hello', store: false }],
  ['/v1/messages', { messages, max_tokens: 10 }],
  ['/completion', { prompt: 'Hello' }],
])('a stream of %s', (path, body) => {
  it('tells the place in line, the load and the rest of the prompt in comments', async () => {
    service.engine.plays(script);
    const { status, text: sent } = await service.client.post(path, { model, ...body, stream: true });
    expect([status, commentsOf(sent)]).toEqual([200, COMMENTS]);
    expect(sent).not.toContain('prompt_progress');
    expect((service.engine.lastJob.submission.job as GenerateJob).reportsProgress).toBe(true);
  });
});

it('tells programs that ask for it in events', async () => {
  service.engine.plays(script);
  const { text: sent } = await service.client.chat({ stream: true, return_progress: true });
  expect(sent.match(/"remaining_ms":(\d+)/g)).toEqual([
    '"remaining_ms":5000',
    '"remaining_ms":2800',
    '"remaining_ms":0',
  ]);
  expect(commentsOf(sent)).toEqual(COMMENTS);
});

it('asks for nothing where the answer is whole', async () => {
  await service.client.chat({});
  expect((service.engine.lastJob.submission.job as GenerateJob).reportsProgress).toBeUndefined();
});
