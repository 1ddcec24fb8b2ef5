/** A kind of engine that has nothing of the local one but the port, behind the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/base/clock.ts';
import { silentLogger } from '../../src/lib/base/logger.ts';
import { createEngine } from '../../src/server/engine/scheduler/loop.ts';
import { ECHO_ENGINE, echoBackend, echoModels } from '../support/engine/echo-backend.ts';
import { type ScriptedService, startScripted } from '../support/http/scripted-service.ts';

/** More is promised than there is, which must not matter to a model that needs none. */
const engine = createEngine({
  backends: { [ECHO_ENGINE]: echoBackend },
  clock: systemClock,
  log: silentLogger,
  freeMemory: () => [],
});
let service: ScriptedService;

beforeAll(async () => {
  service = await startScripted({ models: false, over: { models: echoModels, engine } });
});

afterAll(async () => {
  await engine.drain(0);
  await service.close();
});

const messages = [{ role: 'user', content: 'one two three' }];

describe('a second kind of engine', () => {
  it('has its models listed', async () => {
    const { body } = await service.client.get('/v1/models');
    expect(body.data).toMatchObject([{ id: 'echo', kind: 'chat', owned_by: 'test', context_length: 64 }]);
  });

  it('answers a chat, whole', async () => {
    const { status, headers, body } = await service.client.chat({ model: 'echo', messages });
    expect([status, headers['x-svc-num-ctx']]).toEqual([200, '64']);
    expect(body.choices[0].message.content).toBe('one two three');
    expect(body.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
  });

  it('answers several choices, each within its limit', async () => {
    const { body } = await service.client.chat({ model: 'echo', messages, n: 2, max_tokens: 2 });
    const said = body.choices.map((choice: { message: { content: string }; finish_reason: string }) => [
      choice.message.content,
      choice.finish_reason,
    ]);
    expect(said).toEqual([
      ['one two', 'length'],
      ['one two', 'length'],
    ]);
  });

  it('streams', async () => {
    const stream = await service.client.streamChat({ model: 'default', messages });
    expect(await stream.all()).toMatchObject({ text: 'one two three', done: true, complete: true });
  });

  it('is resident until it is unloaded, without bytes or a process', async () => {
    await service.client.chat({ model: 'echo', messages });
    const { body } = await service.client.get('/svc/residency');
    expect(body.data).toMatchObject([
      { id: 'echo', state: 'ready', pid: null, memory_bytes: 0, num_ctx: 64, slots: 8, threads: null },
    ]);
    expect((await service.client.post('/svc/unload', { model: 'echo' })).body.unloaded).toBe(true);
    expect((await service.client.get('/svc/residency')).body.data).toEqual([]);
  });

  it('refuses what it cannot do, by name', async () => {
    const frozen = await service.client.chat(
      { model: 'echo', messages },
      { 'x-svc-evidence-mode': 'frozen-v1' },
    );
    expect([frozen.status, frozen.body.code, frozen.body.param]).toEqual([
      400,
      'capability_missing',
      'X-Svc-Evidence-Mode',
    ]);
    const dry = await service.client.post('/v1/chat/completions?svc_dry_run=1', { model: 'echo', messages });
    expect([dry.status, dry.body.code]).toEqual([400, 'capability_missing']);
    const embedding = await service.client.embed({ model: 'echo', input: 'x' });
    expect([embedding.status, embedding.body.code]).toEqual([400, 'wrong_model_kind']);
  });
});
