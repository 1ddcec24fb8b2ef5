/** Steps of several native calls, on a simulated clock: what is evaluated when, and what leaves before what. */
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import { scriptedBackend, scriptedSpec } from '../../../test/support/engine/scripted-backend.ts';
import { ChatService } from '../chat-service.ts';
import { loadChat } from '../load/chat.ts';
import type { ChatModel } from '../model.ts';
import { Outbox } from '../outbox.ts';

let nowMs = 0;

beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

afterEach(() => vi.restoreAllMocks());

/** Answers two requests at once, by these rules of an exact load; what happened, in order. */
async function answered(exact?: ChatModel['exact']): Promise<string[]> {
  const happened: string[] = [];
  const { backend } = scriptedBackend(
    () => Buffer.from('a'),
    (_, rows) => {
      happened.push(`${rows}`);
      nowMs += rows < 3 ? 25 * rows : 3.5 * rows;
    },
  );
  const loaded = await loadChat(backend, { ...scriptedSpec, threads: 1 }, () => undefined);
  const chat: ChatModel = { ...loaded, ...(exact !== undefined && { exact }) };
  const ends = new EventEmitter();
  const outbox = new Outbox((message, onSent) => {
    const events = message.type === 'events' ? message.events : [];
    const ended = events.filter(({ event }) => event.type === 'done').map(({ jobId }) => jobId);
    happened.push(...ended.map((jobId) => `${jobId} ends`));
    if (happened.filter((entry) => entry.endsWith('ends')).length === 2) ends.emit('all');
    setImmediate(onSent);
  });
  const service = new ChatService(chat, outbox);
  const all = once(ends, 'all');
  const prompt = { kind: 'text', text: 'on and on' } as const;
  // The second one waits for the beginning that both share, so it is a token behind.
  service.submit(generateJob({ jobId: 'first', maxTokens: 81, prompt }));
  service.submit(generateJob({ jobId: 'second', maxTokens: 80, prompt }));
  await all;
  return happened;
}

it('two streams decode in one call, and in two where an exact load says so', async () => {
  const callsOf = (happened: readonly string[], rows: number): number =>
    happened.filter((entry) => entry === `${rows}`).length;
  const [together, apart] = [await answered(), await answered({ together: false })];
  expect(callsOf(together, 2)).toBeGreaterThan(60);
  expect(callsOf(together, 1)).toBeLessThan(20);
  expect(callsOf(apart, 1)).toBeGreaterThan(120);
});

it('the end of an answer leaves before the call of the next stream', async () => {
  const happened = await answered({ together: false });
  expect(happened.slice(-4)).toEqual(['1', 'first ends', '1', 'second ends']);
});
