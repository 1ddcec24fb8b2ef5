/** Failures and finish reasons as clients of OpenAI's API read them, on every way that a refusal can take. */
import { describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import type { Ask } from '../support/http/http-client.ts';
import { exchange } from '../support/http/raw-exchange.ts';
import { done, started, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService({ apiKey: 'secret', maxBodyBytes: 4096 });
const strings = scriptedService({ errorShape: 'string' });
const objects = scriptedService({ errorShape: 'object' });

const sdk = { 'user-agent': 'OpenAI/Python 3.57.0', 'x-stainless-lang': 'python' };
const path = '/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user', content: 'x' }] };
const post = (body: unknown, headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  path,
  body,
  headers,
});

/** Refusals of every stage. */
const refusals: readonly (readonly [string, number, Ask])[] = [
  ['unauthorized', 401, { path: '/v1/models', headers: { authorization: 'Bearer wrong' } }],
  ['forbidden_host', 403, { path: '/v1/models', headers: { host: 'evil.test' } }],
  ['route_not_found', 404, { method: 'POST', path: '/v1/audio/speech', body: { input: 'x' } }],
  ['model_not_found', 404, post({ ...chat, model: 'nobody' })],
  ['model_not_found', 404, { path: '/v1/models/nobody' }],
  ['method_not_allowed', 405, { path }],
  ['invalid_json', 400, post('{', { 'content-type': 'application/json' })],
  ['invalid_request', 400, post({ ...chat, temperature: 'hot' })],
  ['invalid_request', 400, { path: '/v1/models/%zz' }],
  ['body_too_large', 413, post({ ...chat, model: 'm'.repeat(5000) })],
  ['unsupported_media_type', 415, post('x', { 'content-type': 'text/plain' })],
];

describe('a refusal', () => {
  it.each(refusals)(
    '%s (%i) has an object for an SDK, and the string for others',
    async (code, status, ask) => {
      const plain = await service.client.ask(ask);
      expect([plain.status, plain.body.code, plain.body.error]).toEqual([status, code, plain.body.message]);

      const { body, ...answer } = await service.client.ask({ ...ask, headers: { ...ask.headers, ...sdk } });
      expect([answer.status, answer.headers['x-svc-error-code']]).toEqual([status, code]);
      const { error, ...siblings } = plain.body;
      const { param = null } = siblings;
      expect(body).toEqual({ error: { message: error, type: siblings.type, param, code }, ...siblings });
    },
  );

  it('has an object for a field outside the interface, where the interface describes the body', async () => {
    const { body } = await service.client.chat({ model: 'nobody', max_completion_tokens: 5 });
    expect(body.error).toMatchObject({ code: 'model_not_found', param: 'model' });
    const embedding = await service.client.embed({ input: [], encoding_format: 'float' });
    expect(embedding.body.error).toMatchObject({ code: 'invalid_request', param: 'input' });
    const rerank = await service.client.post('/v1/rerank', { model: 'nobody', query: 'x', documents: ['x'] });
    expect(rerank.body.error).toBe(rerank.body.message);
  });

  it('before fastify sees the request follows the same rule', async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: a-miracle\r\n`;
    const errorOf = async (headers: string) => {
      const { answers } = await exchange(service.port, [`${head}${headers}\r\n`]);
      return JSON.parse(answers[0]?.body ?? '').error;
    };
    expect(await errorOf('')).toMatch(/^\S.+\.$/);
    expect(await errorOf('X-Stainless-Lang: go\r\n')).toMatchObject({
      code: 'unknown_expectation',
      param: null,
    });
  });

  it('of another dialect keeps its shape', async () => {
    for (const route of ['/v1/messages', '/v1/responses', '/completion']) {
      const plain = await objects.client.post(route, {});
      expect((await service.client.post(route, {}, sdk)).body.error).toEqual(plain.body.error);
      expect((await strings.client.post(route, {}, sdk)).body.error).toEqual(plain.body.error);
    }
  });

  it('has the shape of the setting, whoever asks', async () => {
    for (const headers of [{}, sdk]) {
      const { body } = await strings.client.chat({ model: 'nobody', seed: 1 }, headers);
      expect(body.error).toBe(body.message);
      expect((await objects.client.chat({ model: 'nobody' }, headers)).body.error.code).toBe(
        'model_not_found',
      );
    }
  });

  it('of a prompt that is too long has the words that LiteLLM and LangChain look for', async () => {
    service.engine.plays([fail('context_length_exceeded', { promptTokens: 7900, numCtx: 4096 })]);
    const { status, body } = await service.client.chat({}, sdk);
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error']);
    expect(body.error).toMatchObject({ code: 'context_length_exceeded', param: null });
    expect(body.error.message).toContain('exceeds the available context size');
    expect(body.error.message).toContain('context_length_exceeded');
  });
});

describe('a stream', () => {
  const crash = fail('worker_crashed', { model: 'tiny-chat', reason: 'signal SIGKILL' });

  it.each([
    ['an SDK', {}, sdk, 'length'],
    ['a further field', { seed: 1 }, {}, 'length'],
    ['a plain client', {}, {}, 'stop'],
  ])('of %s tells the finish reason in its words', async (_, fields, headers, reason) => {
    service.engine.plays([started(), text('x'), done('length')]);
    const { chunks } = await (await service.client.streamChat(fields, headers)).all();
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ finish_reason: reason, svc_finish_reason: 'length' });
  });

  it.each([
    ['an SDK', {}, sdk],
    ['a further field', { seed: 1 }, {}],
  ])('of %s ends with a frame that has an object', async (_, fields, headers) => {
    service.engine.plays([started(), text('half'), crash]);
    const { error, complete } = await (await service.client.streamChat(fields, headers)).all();
    expect(error?.error).toEqual({
      message: error?.message,
      type: 'unavailable_error',
      param: null,
      code: 'worker_crashed',
    });
    expect(complete).toBe(false);
  });

  it('of a plain client ends with a frame that has the string', async () => {
    service.engine.plays([started(), text('half'), crash]);
    const { error } = await (await service.client.streamChat()).all();
    expect(error?.error).toBe(error?.message);
  });
});
