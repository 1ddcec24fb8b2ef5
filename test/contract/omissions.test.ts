/** One item of the history that is not text does not end a conversation: it is noted or left out, and named. */
import { describe, expect, it } from 'vitest';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const strict = scriptedService({ strictParams: true });
const NOTE = '[image not shown: this model reads text]';
const pixel = 'iVBORw0KGgo=';

const turnsSent = () => {
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  return job.prompt.turns.map(({ role, content }) => [role, content]);
};

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const chat = (content: unknown) => ({
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content },
  ],
});
const messages = (assistant: object[], user: object[]) => ({
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: assistant },
    { role: 'user', content: user },
  ],
});
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
const found = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content });
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } };
const said = { type: 'text', text: 'ok' };
const responses = (...items: object[]) => ({ input: [{ role: 'user', content: 'hi' }, ...items] });
const fcall = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const output = (content: unknown) => ({ type: 'function_call_output', call_id: 'c', output: content });

const URL = `data:image/png;base64,${pixel}`;
const withImage = [
  ['user', 'hi'],
  ['assistant', ''],
  ['tool', NOTE],
];

const CASES: [name: string, path: string, body: object, ignored: string, turns: string[][]][] = [
  [
    'an image in a result, chat completions',
    '/v1/chat/completions',
    chat([{ type: 'image_url', image_url: { url: URL } }]),
    'messages[2].content[0].image_url',
    withImage,
  ],
  [
    'an image in a result, messages',
    '/v1/messages',
    messages([use], [found([image])]),
    'messages[2].content[0].content[0].image',
    withImage,
  ],
  [
    'an image in a result, responses',
    '/v1/responses',
    responses(fcall, output([{ type: 'input_image', image_url: URL }])),
    'input[2].output[0].input_image',
    withImage,
  ],
  [
    'a search of the provider, messages',
    '/v1/messages',
    messages(
      [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
        said,
      ],
      [said],
    ),
    'messages[1].content[0].server_tool_use,messages[1].content[1].web_search_tool_result',
    [
      ['user', 'hi'],
      ['assistant', 'ok'],
      ['user', 'ok'],
    ],
  ],
  ...['web_search_call', 'local_shell_call', 'compaction', 'item_reference', 'of_next_year'].map(
    (type): (typeof CASES)[number] => [
      `${type}, responses`,
      '/v1/responses',
      responses({ type, id: 'x' }),
      `input[1].${type}`,
      [['user', 'hi']],
    ],
  ),
  [
    'an unknown part of a thought, responses',
    '/v1/responses',
    responses({ type: 'reasoning', content: [{ type: 'of_next_year' }] }, { role: 'user', content: 'ok' }),
    'input[1].content[0].of_next_year',
    [
      ['user', 'hi'],
      ['assistant', ''],
      ['user', 'ok'],
    ],
  ],
];

describe.each(CASES)('%s', (_, path, body, ignored, turns) => {
  it('does not end the conversation, and is named', async () => {
    const { status, headers, text } = await service.client.post(path, { model: 'default', ...body });
    expect(status, text).toBe(200);
    expect(headers['x-svc-ignored-params']).toBe(ignored);
    expect(turnsSent()).toEqual(turns);
  });

  it('is refused with SVC_STRICT_PARAMS=1', async () => {
    const { status, text } = await strict.client.post(path, { model: 'default', ...body });
    expect([status, text]).toEqual([400, expect.stringContaining(ignored.split(',')[0] ?? '')]);
  });
});

it("refuses a user's own image with a way out", async () => {
  const own = messages([said], [image]);
  const { status, text } = await service.client.post('/v1/messages', { model: 'default', ...own });
  expect([status, text]).toEqual([400, expect.stringContaining('name a model that reads images')]);
});
