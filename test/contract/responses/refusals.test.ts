/** What POST /v1/responses refuses: in the words of its dialect, before any job, silent about the prompt. */
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedService, startScripted } from '../../support/http/scripted-service.ts';
import { verifies } from '../requirements.ts';

const service = scriptedService({ maxBodyBytes: 512 * 1024 });
const path = '/v1/responses';
const canary = 'CANARY-93e0';
const hello = { model: 'default', input: canary };
const tool = { type: 'function', name: 't', parameters: { type: 'object' } };
const unknownId = `resp_${'0'.repeat(48)}`;

afterEach(() => {
  expect(service.log()).not.toContain(canary);
  expect(service.log(), 'a bad request logged as a bug').not.toContain('by a bug');
});

describe('a request', () => {
  it.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no input', { input: undefined }, 'input'],
    ['an empty list', { input: [] }, 'input'],
    ['an input that is a number', { input: 5 }, 'input'],
    ['an item that is text', { input: [canary] }, 'input[0]'],
    [
      'too many items',
      { input: Array.from({ length: 4097 }, () => ({ role: 'user', content: '' })) },
      'input',
    ],
    ['an item of an unknown type alone', { input: [{ type: 'web_search_call' }] }, 'input'],
    ['a message without a role', { input: [{ content: canary }] }, 'input[0].role'],
    ['a message without content', { input: [{ role: 'user' }] }, 'input[0].content'],
    ['an image', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0]'],
    ['a file', { input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input[0].content[0]'],
    [
      'a part without text',
      { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      'input[0].content[0].text',
    ],
    ['a call without an id', { input: [{ type: 'function_call', name: 't' }] }, 'input[0].call_id'],
    ['a call without a name', { input: [{ type: 'function_call', call_id: 'a' }] }, 'input[0].name'],
    ['an output of nothing', { input: [{ type: 'function_call_output', call_id: 'a' }] }, 'input[0].output'],
    ['instructions that are a list', { instructions: [] }, 'instructions'],
    ['a background answer that is not stored', { background: true, store: false }, 'background'],
    ['a conversation', { conversation: 'conv_1' }, 'conversation'],
    ['a kept prompt', { prompt: { id: 'p' } }, 'prompt'],
    ['nothing but hosted tools', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['a tool without a name', { tools: [{ type: 'function' }] }, 'tools[0].name'],
    ['two tools of one name', { tools: [tool, tool] }, 'tools[1]'],
    ['a choice without tools', { tool_choice: 'required' }, 'tool_choice'],
    ['an unknown choice', { tools: [tool], tool_choice: { type: 'web_search' } }, 'tool_choice.type'],
    ['an unknown effort', { reasoning: { effort: 'most' } }, 'reasoning.effort'],
    ['a format without a type', { text: { format: {} } }, 'text.format.type'],
    [
      '17 metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ''])) },
      'metadata',
    ],
    ['max_output_tokens of 0', { max_output_tokens: 0 }, 'max_output_tokens'],
    ['a temperature as text', { temperature: '1' }, 'temperature'],
  ])('with %s is refused by that name', async (_, fields, param) => {
    const jobs = service.engine.played.length;
    const { status, body, text } = await service.client.post(path, { ...hello, ...fields });
    verifies('responses.errors', () =>
      expect([status, body.error.type, body.error.param], text).toEqual([
        400,
        'invalid_request_error',
        param,
      ]),
    );
    expect(service.engine.played.length).toBe(jobs);
    expect(text).not.toContain(canary);
  });

  it.each([unknownId, 'resp_x', '..%2F..%2Fidentity', 'x'.repeat(300), '%00'])(
    'for the response %s finds none',
    async (id) => {
      for (const [method, at] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/input_items'],
        ['POST', '/cancel'],
      ] as const) {
        const { status, body } = await service.client.ask({ method, path: `${path}/${id}${at}` });
        verifies('responses.missing', () =>
          expect([status, body.error.code]).toEqual([404, 'response_not_found']),
        );
      }
    },
  );

  it('that continues no response is refused', async () => {
    for (const previous_response_id of [unknownId, '', '../x', 'x'.repeat(1000)]) {
      const { status, body } = await service.client.post(path, { ...hello, previous_response_id });
      verifies('responses.missing', () =>
        expect([status, body.error.param]).toEqual([404, 'previous_response_id']),
      );
    }
  });

  it('for a stream that is over is refused', async () => {
    const { id } = (await service.client.post(path, { ...hello, input: 'x' })).body;
    const { status, body } = await service.client.get(`${path}/${id}?stream=true`);
    expect([status, body.error.param]).toEqual([400, 'stream']);
    const bad = await service.client.get(`${path}/${id}/input_items?limit=0`);
    expect([bad.status, bad.body.error.param]).toEqual([400, 'limit']);
  });

  it('to compact names what is missing', async () => {
    const short = await service.client.post(`${path}/compact`, { ...hello, input: 'x' });
    expect([short.status, short.body.error.param]).toEqual([400, 'input']);
    const management = [{ type: 'compaction', compact_threshold: 'many' }];
    const bad = await service.client.post(path, { ...hello, input: 'x', context_management: management });
    expect([bad.status, bad.body.error.param]).toEqual([400, 'context_management[0].compact_threshold']);
  });

  it('by another method names the right ones', async () => {
    const { status, headers } = await service.client.ask({ method: 'PUT', path: `${path}/${unknownId}` });
    expect([status, headers['allow']]).toEqual([405, 'GET, DELETE']);
  });

  it('without the key is refused in the dialect', async () => {
    const locked = await startScripted({ apiKey: 'right' });
    try {
      const response = await fetch(`${locked.url}${path}/${unknownId}`);
      expect([response.status, await response.json()]).toEqual([
        401,
        {
          error: expect.objectContaining({ type: 'authentication_error', code: 'unauthorized', param: null }),
        },
      ]);
    } finally {
      await locked.close();
    }
  });
});
