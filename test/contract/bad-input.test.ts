/**
 * Whatever a client sends wrong is a 4xx with one plain sentence that names the field, without a job for the engine,
 * and with nothing of the prompt in the answer or in the log.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { hello, type Reply } from '../support/http/http-client.ts';
import { scriptedService } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();
/** Stands in prompts; must never come back, nor reach the log. */
const canary = 'CANARY-b6f1c0';
const messages = [{ role: 'user', content: canary }];
const json = { 'content-type': 'application/json' };

const send = (path: string, body: unknown): Promise<Reply> =>
  typeof body === 'string' || Buffer.isBuffer(body)
    ? service.client.ask({ method: 'POST', path, body, headers: json })
    : service.client.post(path, body);

/** Refused before any job, and silent about the prompt. */
async function refused(path: string, body: unknown, status = 400): Promise<Reply> {
  const jobs = service.engine.played.length;
  const reply = await send(path, body);
  expect(reply.status, reply.text).toBe(status);
  expect(service.engine.played.length, 'jobs made of a bad request').toBe(jobs);
  expect(reply.text).not.toContain(canary);
  return reply;
}

afterEach(() => {
  expect(service.log()).not.toContain(canary);
  expect(service.log(), 'a bad request logged as a bug').not.toContain('by a bug');
});

const chatPath = '/v1/chat/completions';
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('a chat request', () => {
  it.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model'],
    ['a null model', { model: null }, 'model'],
    ['an empty model', { model: '' }, 'model'],
    ['a model that is no string', { model: 7 }, 'model'],
    ['a very long model', { model: 'm'.repeat(513) }, 'model'],
    ['no messages', { messages: undefined }, 'messages'],
    ['null messages', { messages: null }, 'messages'],
    ['empty messages', { messages: [] }, 'messages'],
    ['messages that are text', { messages: canary }, 'messages'],
    ['messages that are an object', { messages: { role: 'user', content: canary } }, 'messages'],
    ['too many messages', { messages: Array.from({ length: 4097 }, () => messages[0]) }, 'messages'],
    ['a message that is text', { messages: [canary] }, 'messages[0]'],
    ['a null message', { messages: [...messages, null] }, 'messages[1]'],
    ['a message without a role', { messages: [{ content: canary }] }, 'messages[0].role'],
    ['an unknown role', { messages: [{ role: 'robot', content: canary }] }, 'messages[0].role'],
    ['a role in capitals', { messages: [{ role: 'User', content: canary }] }, 'messages[0].role'],
    ['a role that is a number', { messages: [{ role: 1, content: canary }] }, 'messages[0].role'],
    ['a user without content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['a user with null content', { messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
    ['a system with null content', { messages: [{ role: 'system', content: null }] }, 'messages[0].content'],
    ['content that is a number', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    ['content that is an object', { messages: [{ role: 'user', content: {} }] }, 'messages[0].content'],
    ['a part that is text', { messages: [{ role: 'user', content: [canary] }] }, 'messages[0].content[0]'],
    [
      'a part without text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
    ],
    [
      'an image part',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: canary } }] }] },
      'messages[0].content[0]',
    ],
    [
      'an audio part after text',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: canary },
              { type: 'input_audio', input_audio: {} },
            ],
          },
        ],
      },
      'messages[0].content[1]',
    ],
    ['temperature as text', { temperature: '0.7' }, 'temperature'],
    ['negative temperature', { temperature: -0.1 }, 'temperature'],
    ['a huge temperature', { temperature: 1e308 }, 'temperature'],
    ['temperature as a list', { temperature: [0] }, 'temperature'],
    ['temperature as a boolean', { temperature: true }, 'temperature'],
    ['max_tokens below -1', { max_tokens: -2 }, 'max_tokens'],
    ['max_tokens as a fraction', { max_tokens: 1.5 }, 'max_tokens'],
    ['max_tokens as text', { max_tokens: '5' }, 'max_tokens'],
    ['num_predict below -1', { num_predict: -7 }, 'num_predict'],
    ['num_predict as a fraction', { num_predict: 0.5 }, 'num_predict'],
    ['max_completion_tokens below -1', { max_completion_tokens: -2 }, 'max_completion_tokens'],
    ['a window of 0', { num_ctx: 0 }, 'num_ctx'],
    ['a window of -1', { num_ctx: -1 }, 'num_ctx'],
    ['a window of 1.5', { num_ctx: 1.5 }, 'num_ctx'],
    ['a window as text', { num_ctx: '4096' }, 'num_ctx'],
    ['stream as text', { stream: 'true' }, 'stream'],
    ['stream as a number', { stream: 1 }, 'stream'],
    ['stream_options as text', { stream_options: 'usage' }, 'stream_options'],
    ['include_usage as text', { stream_options: { include_usage: 'yes' } }, 'stream_options.include_usage'],
    ['tools as an object', { tools: {} }, 'tools'],
    ['a million tools', { tools: Array.from({ length: 129 }, () => ({ name: 't' })) }, 'tools'],
    ['a tool that is text', { tools: ['t'] }, 'tools[0]'],
    ['a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    ['a tool of another kind', { tools: [{ type: 'browser' }] }, 'tools[0].type'],
    ['an unknown tool_choice', { tools: [{ name: 't' }], tool_choice: 'always' }, 'tool_choice'],
    ['top_p above 1', { top_p: 1.01 }, 'top_p'],
    ['min_p above 1', { min_p: 2 }, 'min_p'],
    ['a seed below -2^63', { seed: -(2 ** 64) }, 'seed'],
    ['a seed as a fraction', { seed: 0.5 }, 'seed'],
    ['a seed above 2^64', { seed: 2 ** 65 }, 'seed'],
    ['a repeat penalty of 0', { repeat_penalty: 0 }, 'repeat_penalty'],
    ['presence_penalty beyond 2', { presence_penalty: 2.5 }, 'presence_penalty'],
    ['frequency_penalty beyond -2', { frequency_penalty: -2.5 }, 'frequency_penalty'],
    ['logit_bias as a list of numbers', { logit_bias: [1] }, 'logit_bias[0]'],
    ['a logit_bias of nothing', { logit_bias: { '': 1 } }, 'logit_bias'],
    ['a logit_bias beyond 100', { logit_bias: { 5: 101 } }, 'logit_bias[5]'],
    ['stop as a number', { stop: 5 }, 'stop'],
    ['an empty stop in a list', { stop: [''] }, 'stop[0]'],
    ['a stop of 1 MiB', { stop: 's'.repeat(1 << 20) }, 'stop'],
    ['too many stops', { stop: Array.from({ length: 65 }, String) }, 'stop'],
    ['keep_alive that is no duration', { keep_alive: 'soon' }, 'keep_alive'],
    ['keep_alive as a list', { keep_alive: [] }, 'keep_alive'],
    ['n of 0', { n: 0 }, 'n'],
    ['n of 129', { n: 129 }, 'n'],
    ['a grammar as an object', { grammar: {} }, 'grammar'],
    ['a huge grammar', { grammar: 'g'.repeat(65_537) }, 'grammar'],
    ['top_logprobs above 20', { logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
    ['logprobs as a number', { logprobs: 3 }, 'logprobs'],
    [
      'tools that are too large together',
      {
        tools: Array.from({ length: 128 }, (_, tool) => ({
          name: `t${tool}`,
          parameters: {
            properties: Object.fromEntries(
              Array.from({ length: 60 }, (_, at) => [`p${at}`, { type: 'string' }]),
            ),
          },
        })),
      },
      'tools[65].parameters',
    ],
    ['response_format as text', { response_format: 'json' }, 'response_format'],
    ['an unknown response_format', { response_format: { type: 'xml' } }, 'response_format.type'],
    ['an unknown reasoning_effort', { reasoning_effort: 'extreme' }, 'reasoning_effort'],
  ])('with %s is a 400 that names the field', async (_, fields, param) => {
    for (const stream of [false, true]) {
      const { status, body } = await refused(chatPath, { ...hello, messages, stream, ...fields });
      verifies('errors.400', () => expect([status, body.param]).toEqual([400, param]));
      expect(body.message).toContain(param);
    }
  });

  it('needs what the interface calls required', async () => {
    const lacking = async (fields: object) =>
      (await refused(chatPath, { ...hello, messages, ...fields })).body.message;
    const [model, list, role] = [
      await lacking({ model: undefined }),
      await lacking({ messages: undefined }),
      await lacking({ messages: [{ content: canary }] }),
    ];
    verifies('chat.model', () => expect(model).toMatch(/^model is required/));
    verifies('chat.messages', () => expect(list).toMatch(/^messages is required/));
    verifies('message.role', () => expect(role).toMatch(/^messages\[0\]\.role is required/));
  });

  it('of a content that is too deep for anything is refused in a moment', async () => {
    await refused(chatPath, `{"model":"default","messages":${deep(1_000_000)}}`);
  });
});

describe('an embeddings request', () => {
  it.each<[string, object, string, RegExp]>([
    ['no model', { model: undefined, input: canary }, 'model', /required/],
    ['no input', {}, 'input', /required/],
    ['null input', { input: null }, 'input', /string or an array/],
    ['an object as input', { input: { text: canary } }, 'input', /string or an array/],
    ['an empty text', { input: '' }, 'input', /leave empty texts out/],
    ['an empty list', { input: [] }, 'input', /send one string/],
    ['an empty text in a list', { input: [canary, ''] }, 'input[1]', /leave empty texts out/],
    ['a number in a list', { input: [canary, 5] }, 'input[1]', /check_embedding_ctx_length=False/],
    ['a text among token ids', { input: [1, 'x'] }, 'input[1]', /must be a token id/],
    ['a negative token id', { input: [[7], [1, -1]] }, 'input[1][1]', /must be a token id/],
    ['half a token id', { input: [[1.5]] }, 'input[0][0]', /must be a token id/],
    ['a token id that no integer holds', { input: [2 ** 31] }, 'input[0]', /must be a token id/],
    ['no token ids in a list', { input: [[1], []] }, 'input[1]', /leave empty texts out/],
    ['null in a list', { input: [null] }, 'input[0]', /must be a string/],
    ['an object in a list', { input: [{}] }, 'input[0]', /must be a string/],
    ['more than 2048 inputs', { input: Array.from({ length: 10_000 }, () => 'x') }, 'input', /at most 2048/],
    ['an input above 1 MiB', { input: 'x'.repeat((1 << 20) + 1) }, 'input', /larger than 1048576 bytes/],
    ['an unknown encoding', { input: canary, encoding_format: 'hex' }, 'encoding_format', /float, base64/],
    [
      'other dimensions',
      { input: canary, dimensions: 256 },
      'dimensions',
      /^dimensions is 256; for model "tiny-embed" set it to 768,/,
    ],
    ['dimensions as text', { input: canary, dimensions: '768' }, 'dimensions', /integer/],
    ['truncate as text', { input: canary, truncate: 'yes' }, 'truncate', /boolean/],
  ])('with %s is a 400 that names the field and says what to send', async (_, fields, param, remedy) => {
    const { status, body } = await refused('/v1/embeddings', { model: 'default-embedding', ...fields });
    verifies('post-embeddings.errors', () => expect([status, body.param]).toEqual([400, param]));
    expect(body.message).toContain(param.replace(/\[\d+\]$/, ''));
    expect(body.message).toMatch(remedy);
  });
});

describe('what an embeddings request must have', () => {
  it('is a model and an input', async () => {
    const model = await refused('/v1/embeddings', { input: canary });
    const input = await refused('/v1/embeddings', { model: 'default-embedding' });
    verifies('embedding-request.model', () => expect(model.body.error).toMatch(/^model is required/));
    verifies('embedding-request.input', () => expect(input.body.error).toMatch(/^input is required/));
  });
});

describe('a body', () => {
  const paths = [chatPath, '/v1/embeddings', '/v1/completions', '/svc/unload'];
  const valid = JSON.stringify({ ...hello, messages });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['white space', ' \n\t '],
    ['text', canary],
    ['a quoted text', JSON.stringify(canary)],
    ['null', 'null'],
    ['a number', '7'],
    ['a list', `[${valid}]`],
    ['an open object', '{'],
    ['half of a request', valid.slice(0, -5)],
    ['a request and more', `${valid}{}`],
    ['a trailing comma', valid.replace(/}$/, ',}')],
    ['single quotes', valid.replaceAll('"', "'")],
    ['a comment', `/* ${canary} */${valid}`],
    ['NaN', valid.replace(/}$/, ',"temperature":NaN}')],
    ['Infinity', valid.replace(/}$/, ',"temperature":Infinity}')],
    ['-Infinity', valid.replace(/}$/, ',"temperature":-Infinity}')],
    ['1e999', valid.replace(/}$/, ',"temperature":1e999}')],
    ['a number of 500 digits', valid.replace(/}$/, `,"seed":${'9'.repeat(500)}}`)],
    ['a hexadecimal number', valid.replace(/}$/, ',"seed":0x10}')],
    ['a leading zero', valid.replace(/}$/, ',"seed":007}')],
    ['a leading plus', valid.replace(/}$/, ',"seed":+7}')],
    ['a raw line break in text', valid.replace(canary, 'a\nb')],
    ['an unknown escape', valid.replace(canary, 'a\\xb')],
    ['half an escape', valid.replace(canary, 'a\\u12')],
    ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(valid)])],
    ['UTF-16', Buffer.from(valid, 'utf16le')],
    ['bytes that are no UTF-8', Buffer.from(valid.replace(canary, '\xff\xfe'), 'latin1')],
    ['an overlong UTF-8 slash', Buffer.from(valid.replace(canary, '\xc0\xaf'), 'latin1')],
    ['an encoded surrogate', Buffer.from(valid.replace(canary, '\xed\xa0\x80'), 'latin1')],
    ['GBK', Buffer.from(valid.replace(canary, '\xc4\xe3\xba\xc3'), 'latin1')],
    ['UTF-8 cut in a character', Buffer.from(valid.replace(canary, '\xe4\xbd'), 'latin1')],
    ['a NUL byte after it', `${valid}\0`],
    ['3000 nested lists', deep(3000)],
    ['a million nested lists', deep(1_000_000)],
    ['65 nested lists', deep(65)],
    ['a million nested objects', '{"a":'.repeat(1_000_000)],
    ['200 000 keys', `{${Array.from({ length: 200_000 }, (_, key) => `"${key}":0`).join(',')}}`],
    ['the key __proto__', '{"__proto__":{"model":"default"}}'],
    ['the key __proto__ inside', valid.replace(canary, '').replace('"role"', '"__proto__":1,"role"')],
    ['the key __proto__ in escapes', '{"\\u005f_proto__":1}'],
    ['a key twice', valid.replace(/}$/, ',"model":"default"}')],
    ['a key twice in escapes', valid.replace(/}$/, ',"mod\\u0065l":"default"}')],
  ])('of %s is a 400 on every route', async (_, body) => {
    for (const path of paths) {
      const { status, body: told } = await refused(path, body);
      verifies('errors.400', () => expect([status, told.type]).toEqual([400, 'invalid_request_error']));
    }
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', '__defineGetter__'])(
    'with the key %s is an ordinary request',
    async (key) => {
      const { status, headers } = await service.client.chat({ [key]: { prototype: { polluted: true } } });
      expect([status, headers['x-svc-ignored-params']]).toEqual([200, key]);
      expect(Object.prototype).not.toHaveProperty('polluted');
    },
  );

  it('of 7 MiB of prompt is a request like any other', async () => {
    const reply = await service.client.chat({ messages: [{ role: 'user', content: 'p'.repeat(7 << 20) }] });
    expect(reply.status).toBe(200);
  });

  it('is not needed, and not read, where the method is wrong', async () => {
    for (const body of ['{', 'x'.repeat(9 << 20)]) {
      await refused('/v1/models', body, 405);
      await refused('/nowhere', body, 404);
    }
  });
});

const strict = scriptedService({ strictParams: true });

describe('strict parameters', () => {
  it('refuse what would have no effect, by name', async () => {
    for (const [path, body] of [
      [chatPath, { ...hello, typo: 1 }],
      ['/v1/embeddings', { model: 'default-embedding', input: 'x', typo: 1 }],
      ['/v1/completions', { model: 'default', prompt: 'x', typo: 1 }],
    ] as const) {
      const reply = await strict.client.post(path, body);
      expect([reply.status, reply.body.param]).toEqual([400, 'typo']);
    }
    expect((await strict.client.chat({ temperature: 0 })).status).toBe(200);
  });
});

describe('the log', () => {
  it('holds nothing of prompts and answers, whatever happens to them', async () => {
    const secret = 'PROMPT-51d2';
    const prompt = [{ role: 'user', content: secret }];
    await service.client.chat({ messages: prompt });
    await (await service.client.streamChat({ messages: prompt })).all();
    await service.client.embed({ input: secret });
    await service.client.post('/v1/completions', { model: 'default', prompt: secret });
    await service.client.chat({ messages: prompt, stop: secret, user: secret, grammar: 'root ::= "a"' });
    strict.engine.plays([new TypeError('a bug')]);
    await strict.client.chat({ messages: prompt });
    expect(strict.log()).toContain('a bug');
    expect(service.log() + strict.log()).not.toContain(secret);
  });
});
