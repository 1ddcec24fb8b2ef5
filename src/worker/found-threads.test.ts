/** From a load that was measured beside another program to the thread count of later steps, on a simulated clock. */
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { generateJob } from '../../test/support/engine/jobs.ts';
import { scriptedBackend, scriptedSpec } from '../../test/support/engine/scripted-backend.ts';
import type { FromWorker } from '../contract/ipc.ts';
import type { LoadSpec } from '../contract/load.ts';
import { ChatService } from './chat-service.ts';
import { loadChat } from './load/chat.ts';
import { Outbox } from './outbox.ts';

let nowMs = 0;
let cpuMs = 0;
/** Milliseconds of a step, and the share of its threads' time that it gets, by threads. */
let machine: (threads: number) => { readonly ms: number; readonly share: number };

const quiet: typeof machine = (threads) => ({ ms: 50 / threads, share: 1 });
/** Threads that wait for each other wait long, but not with so little processor time that it would show. */
const hidden: typeof machine = (threads) => (threads === 1 ? quiet(1) : { ms: 400, share: 0.9 });
const busy: typeof machine = (threads) => (threads === 1 ? quiet(1) : { ms: 400, share: 0.6 });

beforeEach(() => {
  [nowMs, cpuMs] = [0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: cpuMs * 1000, system: 0 }));
});

afterEach(() => vi.restoreAllMocks());

async function loaded(spec: Partial<LoadSpec>) {
  const { backend } = scriptedBackend(
    () => Buffer.from('a'),
    (threads) => {
      const { ms, share } = machine(threads);
      nowMs += ms;
      cpuMs += ms * threads * share;
    },
  );
  const chat = await loadChat(
    backend,
    { ...scriptedSpec, threads: null, planner: { kind: 'plain', without: [] }, ...spec },
    () => undefined,
  );
  const found: FromWorker[] = [];
  const events = new EventEmitter();
  const outbox = new Outbox((message, onSent) => {
    if (message.type === 'threads') found.push(message);
    if (message.type === 'events' && message.events.some(({ event }) => event.type === 'done'))
      events.emit('done');
    setImmediate(onSent);
  });
  const service = new ChatService(chat, outbox);
  const answer = async (tokens: number): Promise<void> => {
    const done = once(events, 'done');
    service.submit(generateJob({ maxTokens: tokens, prompt: { kind: 'text', text: 'on and on' } }));
    await done;
  };
  return { chat, found, answer };
}

it('a count that was measured beside another program is left when that has ended, and only then remembered', async () => {
  machine = hidden;
  const { chat, found, answer } = await loaded({});
  expect(chat.facts.threads).toBe(1);
  machine = quiet;
  await answer(600);
  expect(chat.context.getThreads()).toBe(2);
  expect(found).toEqual([
    { type: 'threads', threads: 2, confirmed: false },
    { type: 'threads', threads: 2, confirmed: true },
  ]);
});

it('a measurement that saw another program chooses nothing: the load begins with all cores', async () => {
  machine = busy;
  expect((await loaded({})).chat.facts).toMatchObject({ threads: 2, calibration: [] });
});

it('a remembered count is left when it has become wrong', async () => {
  machine = quiet;
  const { chat, found, answer } = await loaded({ tunedThreads: 1 });
  expect(chat.facts.threads).toBe(1);
  await answer(600);
  expect(found.at(-1)).toEqual({ type: 'threads', threads: 2, confirmed: true });
});

it('beside another program fewer threads are used, which is told but not to be remembered', async () => {
  machine = quiet;
  const { chat, found, answer } = await loaded({ tunedThreads: 2 });
  machine = busy;
  await answer(600);
  expect(chat.context.getThreads()).toBe(1);
  expect(found).toEqual([{ type: 'threads', threads: 1, confirmed: false }]);
});

it('a pinned count stays', async () => {
  machine = quiet;
  const { chat, found, answer } = await loaded({ threads: 1 });
  await answer(600);
  expect([chat.context.getThreads(), found]).toEqual([1, []]);
});
