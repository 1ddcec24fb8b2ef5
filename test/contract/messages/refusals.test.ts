/** What POST /v1/messages refuses: in the words of its dialect, before any job, silent about the prompt. */
import { afterEach, describe, expect, it } from 'vitest';
import { fail } from '../../../src/lib/errors/svc-error.ts';
import { scriptedService, startScripted } from '../../support/http/scripted-service.ts';
import { verifies } from '../requirements.ts';

const service = scriptedService({ maxBodyBytes: 256 * 1024 });
const path = '/v1/messages';
const canary = 'CANARY-77d1';
const user = { role: 'user', content: canary };
const hello = { model: 'default', max_tokens: 8, messages: [user] };
const tool = { name: 't', input_schema: { type: 'object' } };
const said = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });

afterEach(() => {
  expect(service.log()).not.toContain(canary);
  expect(service.log(), 'a bad request logged as a bug').not.toContain('by a bug');
});

describe('a request', () => {
  it.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens'],
    ['max_tokens of 0', { max_tokens: 0 }, 'max_tokens'],
    ['max_tokens as text', { max_tokens: '5' }, 'max_tokens'],
    ['no messages', { messages: undefined }, 'messages'],
    ['empty messages', { messages: [] }, 'messages'],
    [
      'too many messages',
      { messages: Array.from({ length: 4097 }, () => ({ role: 'user', content: '' })) },
      'messages',
    ],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['a message without content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['null content', { messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
    ['a block that is text', said(canary), 'messages[0].content[0]'],
    ['a block without a type', said({ text: canary }), 'messages[0].content[0].type'],
    ['a text block without text', said({ type: 'text' }), 'messages[0].content[0].text'],
    ['an image', said({ type: 'text', text: 'a' }, { type: 'image', source: {} }), 'messages[0].content[1]'],
    ['a document of bytes', said({ type: 'document', source: { type: 'base64' } }), 'messages[0].content[0]'],
    ['an unknown block', said({ type: canary.slice(7) }), 'messages[0].content[0]'],
    [
      'a result without an id',
      said({ type: 'tool_result', content: 'x' }),
      'messages[0].content[0].tool_use_id',
    ],
    [
      'a result that is a number',
      said({ type: 'tool_result', tool_use_id: 'a', content: 5 }),
      'messages[0].content[0].content',
    ],
    [
      'a call that is to be continued',
      {
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
        ],
      },
      'messages',
    ],
    [
      'a begun answer that has to be JSON',
      {
        messages: [user, { role: 'assistant', content: 'So' }],
        output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      },
      'messages',
    ],
    [
      'a call without a name',
      { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', input: {} }] }, user] },
      'messages[0].content[0].name',
    ],
    [
      'a call with a list as input',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: [] }] },
          user,
        ],
      },
      'messages[0].content[0].input',
    ],
    ['a system prompt that is a number', { system: 5 }, 'system'],
    ['an image in the system prompt', { system: [{ type: 'image' }] }, 'system[0]'],
    ['tools as an object', { tools: {} }, 'tools'],
    ['a tool that is text', { tools: ['t'] }, 'tools[0]'],
    ['a tool without a name', { tools: [{ input_schema: {} }] }, 'tools[0].name'],
    [
      'a format without a schema',
      { output_config: { format: { type: 'json_schema' } } },
      'output_config.format.schema',
    ],
    ['two tools of one name', { tools: [tool, tool] }, 'tools[1]'],
    [
      'nothing but tools of the provider',
      { tools: [{ type: 'web_search_20250305', name: 'w' }] },
      'tools[0].type',
    ],
    ['513 tools', { tools: Array.from({ length: 513 }, () => tool) }, 'tools'],
    ['a choice without tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
    ['a choice of nobody', { tools: [tool], tool_choice: { type: 'tool', name: 'x' } }, 'tool_choice.name'],
    ['an unknown choice', { tools: [tool], tool_choice: { type: 'always' } }, 'tool_choice.type'],
    ['a choice that is text', { tools: [tool], tool_choice: 'any' }, 'tool_choice'],
    ['unknown thinking', { thinking: { type: 'hard' } }, 'thinking.type'],
    ['a negative budget', { thinking: { type: 'enabled', budget_tokens: -1 } }, 'thinking.budget_tokens'],
    ['a format of another kind', { output_config: { format: { type: 'xml' } } }, 'output_config.format.type'],
    ['a thread', { thread: { type: 'create' } }, 'thread'],
    ['servers', { mcp_servers: [{ type: 'url' }] }, 'mcp_servers'],
    ['an empty stop sequence', { stop_sequences: [''] }, 'stop_sequences[0]'],
    ['a temperature as text', { temperature: '1' }, 'temperature'],
  ])('with %s is refused by that name', async (_, fields, param) => {
    const jobs = service.engine.played.length;
    const { status, body, text, headers } = await service.client.post(path, { ...hello, ...fields });
    expect([status, body.error.type, body.error.param], text).toEqual([400, 'invalid_request_error', param]);
    expect(body.error.message).toContain(param);
    verifies('messages.errors', () =>
      expect(body).toMatchObject({ type: 'error', request_id: headers['x-request-id'] }),
    );
    expect(service.engine.played.length).toBe(jobs);
    expect(text).not.toContain(canary);
  });

  it.each([
    ['no JSON', '{"model":', 400, 'invalid_json'],
    ['a key twice', '{"model":"a","model":"b"}', 400, 'invalid_json'],
    ['deep nesting', `{"messages":${'['.repeat(200)}${']'.repeat(200)}}`, 400, 'invalid_json'],
    ['a huge body', JSON.stringify({ ...hello, system: 'x'.repeat(300_000) }), 413, 'body_too_large'],
  ])('that is %s is refused in the same words', async (_, bytes, expected, code) => {
    const headers = { 'content-type': 'application/json' };
    for (const route of [path, `${path}/count_tokens`]) {
      const { status, body } = await service.client.ask({
        method: 'POST',
        path: route,
        body: bytes,
        headers,
      });
      expect([status, body.type, body.error.code]).toEqual([expected, 'error', code]);
      if (status === 413)
        verifies('messages.error-types', () => expect(body.error.type).toBe('request_too_large'));
    }
  });
});

describe('failures', () => {
  it('have the type of their status', async () => {
    const unknown = await service.client.post(path, { ...hello, model: 'nobody' });
    service.engine.plays([fail('queue_full', { limit: 1, retryAfterS: 1 })]);
    const busy = await service.client.post(path, hello);
    const bad = await service.client.post(path, {});
    const foreign = await service.client.post(path, hello, { host: 'evil.example' });
    verifies('messages.error-types', () => {
      expect([unknown.status, unknown.body.error.type]).toEqual([404, 'not_found_error']);
      expect([busy.status, busy.body.error.type]).toEqual([429, 'rate_limit_error']);
      expect([bad.status, bad.body.error.type]).toEqual([400, 'invalid_request_error']);
      expect([foreign.status, foreign.body.error.type]).toEqual([403, 'permission_error']);
    });
    const method = await service.client.get(path);
    expect([method.status, method.headers['allow'], method.body.type]).toEqual([405, 'POST', 'error']);
    const media = await service.client.ask({
      method: 'POST',
      path,
      body: '{}',
      headers: { 'content-type': 'text/plain' },
    });
    expect([media.status, media.body.type]).toEqual([415, 'error']);
  });

  it('of a thread tell its client to go on without', async () => {
    const { body } = await service.client.post(path, { ...hello, thread: { type: 'create' } });
    expect(body.error).toMatchObject({
      code: 'thread_unsupported',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
  });

  it('of the key are told in the dialect, and x-api-key opens', async () => {
    const locked = await startScripted({ apiKey: 'right' });
    try {
      const post = (headers: Record<string, string>) =>
        fetch(`${locked.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(hello),
        });
      const refused = await post({ 'x-api-key': 'wrong' });
      const body = (await refused.json()) as { error: { type: string } };
      verifies('messages.error-types', () =>
        expect([refused.status, body.error.type]).toEqual([401, 'authentication_error']),
      );
      const opened = await post({ 'x-api-key': 'right' });
      verifies('messages.key', () => expect(opened.status).toBe(200));
    } finally {
      await locked.close();
    }
  });

  it('are strict about what has no effect where the operator asks for it', async () => {
    const strict = await startScripted({ strictParams: true });
    try {
      const { status, body } = await strict.client.post(path, { ...hello, metadata: { user_id: 'u' } });
      expect([status, body.error.param]).toEqual([400, 'metadata']);
    } finally {
      await strict.close();
    }
  });
});
