/** A model without a chat template: every answer of a chat says that a stand-in put the conversation. */
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { setParams } from '../../src/store/install/changes.ts';
import { importFile } from '../../src/store/install/import.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const HEADER = 'x-svc-chat-template';

beforeAll(async () => {
  const file = path.join(path.dirname(service.registry.store.paths.root), 'base.gguf');
  await writeTinyChat(file, { chatTemplate: null });
  await importFile(service.registry, file, { id: 'base' });
});

async function headerOf(request: string, body: object): Promise<string | null> {
  const response = await fetch(`${service.url}${request}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get(HEADER);
}

const chat = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 4 };

describe('the header for chat templates', () => {
  it.each([
    ['a whole answer', '/v1/chat/completions', chat],
    ['a stream', '/v1/chat/completions', { ...chat, stream: true }],
    ['a message', '/v1/messages', chat],
    ['a response', '/v1/responses', { input: 'hi' }],
  ])('names the stand-in on %s', async (_, route, body) => {
    expect(await headerOf(route, { ...body, model: 'base' })).toBe('stand-in');
    expect(await headerOf(route, { ...body, model: installed.slashed })).toBeNull();
  });

  it('is not there for text completions, which no template puts', async () => {
    expect(await headerOf('/v1/completions', { model: 'base', prompt: 'hi', max_tokens: 4 })).toBeNull();
  });

  it('is not there once a template is chosen', async () => {
    await setParams(service.registry, 'base', { template: 'alpaca' });
    expect(await headerOf('/v1/chat/completions', { ...chat, model: 'base' })).toBeNull();
    const refused = setParams(service.registry, 'base', { template: '/nowhere/chat.jinja' });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', detail: { param: 'template' } });
    await setParams(service.registry, 'base', { template: null });
    expect(await headerOf('/v1/chat/completions', { ...chat, model: 'base' })).toBe('stand-in');
  });
});

describe('an answer without a limit', () => {
  const limitOf = async (body: object): Promise<number | null | undefined> => {
    await headerOf('/v1/chat/completions', { messages: chat.messages, ...body });
    const { job } = service.engine.lastJob.submission;
    return job.kind === 'generate' ? job.maxTokens : undefined;
  };

  it('has one where the model hardly ends by itself, unless somebody says otherwise', async () => {
    expect(await limitOf({ model: 'base' })).toBe(1024);
    expect(await limitOf({ model: installed.slashed })).toBeNull();
    expect(await limitOf({ model: 'base', max_tokens: -1 })).toBeNull();
    // A template does not teach a model to end its answers.
    await setParams(service.registry, 'base', { template: 'alpaca' });
    expect(await limitOf({ model: 'base' })).toBe(4096);
    expect(await limitOf({ model: 'base', max_tokens: -1 })).toBeNull();
    await setParams(service.registry, 'base', { template: null, maxTokens: 7 });
    expect(await limitOf({ model: 'base' })).toBe(7);
  });
});
