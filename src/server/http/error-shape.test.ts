import { describe, expect, it } from 'vitest';
import { routes } from '../../wire/routes.ts';
import { type Sender, shapeBy } from './error-shape.ts';

const messages = [{ role: 'user', content: 'x' }];
const chat = { model: 'm', messages };
const chatOf = (body: unknown, headers = {}): Sender => ({
  headers,
  body,
  plainFields: routes.chatCompletions.plainFields,
});

describe('the shape of errors by client', () => {
  it.each<[string, Record<string, string>]>([
    ['openai-python', { 'user-agent': 'OpenAI/Python 3.57.0', 'x-stainless-lang': 'python' }],
    ['openai-python, asynchronous', { 'user-agent': 'AsyncOpenAI/Python 3.57.0' }],
    ['openai-node', { 'user-agent': 'OpenAI/JS 6.49.0', 'x-stainless-retry-count': '0' }],
    ['openai-go', { 'user-agent': 'OpenAI/Go 3.98.0', 'x-stainless-os': 'Linux' }],
    [
      'a library over openai-python that renames itself',
      { 'user-agent': 'x/1', 'x-stainless-async': 'false' },
    ],
    ['the AI SDK', { 'user-agent': 'ai/6.0.326 ai-sdk/openai/3.0.141 runtime/node.js/22' }],
    ['async-openai or go-openai with an organization', { 'openai-organization': 'org-x' }],
    ['async-openai with a project', { 'openai-project': 'default' }],
    ['a client of a beta', { 'user-agent': 'x', 'openai-beta': 'assistants=v2' }],
  ])('is an object for %s, with or without a body', (_, headers) => {
    expect(shapeBy('auto')({ headers })).toBe('object');
    expect(shapeBy('auto')(chatOf(chat, headers))).toBe('object');
  });

  it.each<[string, Record<string, string>]>([
    ['a client without a name', {}],
    ['curl', { 'user-agent': 'curl/8.5.0', accept: '*/*' }],
    ['Go', { 'user-agent': 'Go-http-client/1.1', authorization: 'Bearer sk-x' }],
    ['Python', { 'user-agent': 'python-requests/2.32', 'x-svc-client-id': 'openai' }],
    ['a browser', { 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'cors' }],
  ])('is the string of the interface for %s', (_, headers) => {
    expect(shapeBy('auto')({ headers })).toBe('string');
    expect(shapeBy('auto')(chatOf(chat, headers))).toBe('string');
  });

  const everyOption = { temperature: 0, max_tokens: 1, num_predict: 1, num_ctx: 512, stream: true };
  it.each<[string, Sender]>([
    ['every field of a chat', chatOf({ ...chat, ...everyOption, tools: [{ name: 'f' }] })],
    ['a further field that is null', chatOf({ ...chat, stop: null })],
    [
      'the fields of an embedding',
      { headers: {}, body: { model: 'm', input: 'x' }, plainFields: routes.embeddings.plainFields },
    ],
    [
      'the fields of a text completion',
      {
        headers: {},
        body: { model: 'm', prompt: 'x', ...everyOption },
        plainFields: routes.completions.plainFields,
      },
    ],
    ['a body that is a list', chatOf([chat])],
    ['a body that is null', chatOf(null)],
    ['a body that is text', chatOf('stop')],
    ['tools that are no list', chatOf({ ...chat, tools: 'function' })],
    ['tools that are no objects', chatOf({ ...chat, tools: [null, 1, 'function', []] })],
    ['a route that the interface does not describe', { headers: {}, body: { id: 'x' } }],
  ])('is the string for %s', (_, sender) => {
    expect(shapeBy('auto')(sender)).toBe('string');
  });

  it.each<[string, Sender]>([
    ['stream_options', chatOf({ ...chat, stream: true, stream_options: { include_usage: true } })],
    ['max_completion_tokens', chatOf({ ...chat, max_completion_tokens: 5 })],
    ['a field that nobody knows', chatOf({ ...chat, anything: 0 })],
    ["tools in OpenAI's form", chatOf({ ...chat, tools: [{ type: 'function', function: { name: 'f' } }] })],
    [
      'encoding_format',
      {
        headers: {},
        body: { model: 'm', input: 'x', encoding_format: 'float' },
        plainFields: routes.embeddings.plainFields,
      },
    ],
    [
      'a stop of a text completion',
      {
        headers: {},
        body: { model: 'm', prompt: 'x', stop: '.' },
        plainFields: routes.completions.plainFields,
      },
    ],
  ])('is an object for %s', (_, sender) => {
    expect(shapeBy('auto')(sender)).toBe('object');
  });

  it.each(['string', 'object'] as const)('is %s for everybody where the setting says so', (setting) => {
    for (const sender of [chatOf(chat), chatOf({ ...chat, n: 2 }), { headers: { 'x-stainless-lang': 'go' } }])
      expect(shapeBy(setting)(sender)).toBe(setting);
  });
});
