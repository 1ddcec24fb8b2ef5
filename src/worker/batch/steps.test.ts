/** Steps of several native calls, on a simulated clock: what is evaluated when, and what leaves before what. */
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import { scriptedBackend, scriptedSpec } from '../../../test/support/engine/scripted-backend.ts';
import { ChatService } from '../chat-service.ts';
import { loadChat } from '../load/chat.ts';
import { Outbox } from '../outbox.ts';

let nowMs = 0;

beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

afterEach(() => vi.restoreAllMocks());

/** Answers two requests at once on a machine with these costs; what happened, in order. */
async function answered(msOf: (rows: number) => number): Promise<string[]> {
  const happened: string[] = [];
  const { backend } = scriptedBackend(
    () => Buffer.from('a'),
    (_, rows) => {
      happened.push(`${rows}`);
      nowMs += msOf(rows);
    },
  );
  const chat = await loadChat(backend, { ...scriptedSpec, threads: 1 }, () => undefined);
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

it('two streams decode apart where two rows cost more than two calls, and together where they do not', async () => {
  const calls = async (two: number) => {
    const happened = await answered((rows) => (rows === 2 ? two : rows < 2 ? 25 : 3.5 * rows));
    return {
      one: happened.filter((rows) => rows === '1').length,
      two: happened.filter((rows) => rows === '2').length,
    };
  };
  const [apart, together] = [await calls(75), await calls(35)];
  expect(apart.one).toBeGreaterThan(120);
  expect(apart.two).toBeLessThan(10);
  expect(together.one).toBeLessThan(20);
  expect(together.two).toBeGreaterThan(60);
});

it('the end of an answer leaves before the call of the next stream', async () => {
  const happened = await answered((rows) => (rows === 2 ? 75 : rows < 2 ? 25 : 3.5 * rows));
  expect(happened.slice(-4)).toEqual(['1', 'first ends', '1', 'second ends']);
});
