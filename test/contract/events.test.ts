/** GET /svc/engine and /svc/events over sockets: who may read them, what they tell, and what they never tell. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import { mergePatched } from '../../src/lib/base/merge-patch.ts';
import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { JobBoard } from '../../src/server/engine/observe/job-board.ts';
import { createEngine } from '../../src/server/engine/scheduler/loop.ts';
import { systemClock } from '../../src/lib/base/clock.ts';
import { silentLogger } from '../../src/lib/base/logger.ts';
import { ECHO_ENGINE, echoBackend, echoModels } from '../support/engine/echo-backend.ts';
import { scriptedService } from '../support/http/scripted-service.ts';
import { checkAnswer } from '../support/http/schema-check.ts';

const key = 'sk-of-the-engine-room';
const canary = 'a-word-of-the-prompt';
const board = new JobBoard(systemClock);
const engine = createEngine({
  backends: { [ECHO_ENGINE]: echoBackend },
  clock: systemClock,
  log: silentLogger,
  freeMemory: () => [],
  observers: [board],
});
const service = scriptedService({ apiKey: key, models: false, over: { models: echoModels, engine, board } });
const authorization = `Bearer ${key}`;

/** Reads events until the test has seen enough, and then leaves. */
async function* eventsFrom(headers: Record<string, string> = {}): AsyncGenerator<EventSourceMessage> {
  const leaving = new AbortController();
  const response = await fetch(`${service.url}/svc/events`, {
    headers: { authorization, ...headers },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('x-svc-boot-id')).toBe(service.bootId);
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    leaving.abort();
  }
}

describe('the stream of the engine', () => {
  it('begins with a state that fits its schema, follows a chat, and has none of its text', async () => {
    const said: string[] = [];
    let state = {} as EngineState;
    let asked: Promise<unknown> | undefined;
    for await (const event of eventsFrom()) {
      said.push(event.data);
      const data: unknown = JSON.parse(event.data);
      state = (event.event === 'update' ? mergePatched(state, data) : data) as EngineState;
      checkAnswer('GET', '/svc/events', 200, state);
      asked ??= service.client.chat(
        { messages: [{ role: 'user', content: canary }] },
        { 'x-svc-client-id': 'the <b>editor' },
      );
      if (state.models['echo']?.state === 'ready' && Object.keys(state.jobs).length === 0) break;
    }
    await asked;
    expect(state.models['echo']).toMatchObject({ kind: 'chat', num_ctx: 64 });
    // It holds no memory of this machine, and would free none.
    expect(state.models['echo']).not.toHaveProperty('eviction');
    expect(said.join('')).toContain('the beditor');
    expect(said.join('')).not.toContain(canary);
    expect((await service.client.get('/svc/engine')).body.models).toEqual(state.models);
  });

  it('goes on after the event that a reader names', async () => {
    const first = (await eventsFrom().next()).value as EventSourceMessage;
    expect(first.event).toBe('snapshot');
    await service.client.chat({ messages: [{ role: 'user', content: 'one' }] });
    const then = (await eventsFrom({ 'last-event-id': first.id ?? '' }).next()).value as EventSourceMessage;
    expect(then.event).toBe('update');
  });

  it.each(['/svc/events', '/svc/engine'])(
    '%s needs the key, and no foreign page may read it',
    async (path) => {
      const bare = { authorization: '' };
      expect((await service.client.get(path, bare)).body.code).toBe('unauthorized');
      const page = { origin: 'https://evil.example' };
      expect((await service.client.get(path, page)).body.code).toBe('forbidden_origin');
      expect((await service.client.get(path, { host: 'evil.example' })).body.code).toBe('forbidden_host');
    },
  );
});
