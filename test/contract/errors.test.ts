/** Failures of every route: the status, the body, the headers. The shared client checks each body's schema. */
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { catalogueEntry } from '../../src/lib/errors/catalogue.ts';
import { fail, type SvcError } from '../../src/lib/errors/svc-error.ts';
import { forEver, queued, started } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { allCodes, sampleFailure } from '../support/sample-failure.ts';
import { type Route, routes } from '../../src/wire/routes.ts';
import { verifies } from './requirements.ts';

const service = scriptedService({ maxBodyBytes: 4096 });
const { ask, chat, get, post } = bind();

const shownRoutes = Object.values<Route>(routes).filter(({ hidden }) => hidden !== true);
const isUsual = (method: string): boolean => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method);

/** The smallest body of each route, without its model. */
const plain = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'x' }] },
  '/v1/embeddings': { input: 'x' },
  '/v1/completions': { prompt: 'x' },
  '/v1/rerank': { query: 'x', documents: ['x'] },
} as const;

describe('an error', () => {
  it('has the sentence in error and in message, its family, its code and its field', async () => {
    const { status, headers, body } = await chat({ temperature: 'hot' });
    verifies(['post-chat.errors', 'errors.400'], () => expect(status).toBe(400));
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    verifies('error.error', () => expect(body.error).toBe('temperature must be a number.'));
    expect(body).toEqual({
      error: 'temperature must be a number.',
      message: 'temperature must be a number.',
      type: 'invalid_request_error',
      code: 'invalid_request',
      param: 'temperature',
    });
  });

  it.each(['/v1/chat/completions', '/v1/embeddings', '/v1/completions'] as const)(
    'of %s is 404 for an unknown model and says how to get it',
    async (path) => {
      const reply = await post(path, { model: 'nobody', ...plain[path] });
      verifies(['post-chat.errors', 'post-embeddings.errors', 'errors.404'], () =>
        expect([reply.status, reply.body.code, reply.body.param]).toEqual([404, 'model_not_found', 'model']),
      );
      expect(reply.body.error).toContain('install one with: hearth pull owner/name');
    },
  );

  it.each([
    ['/v1/chat/completions', 'hearth-mini'],
    ['/v1/embeddings', 'hearth-embed'],
    ['/v1/rerank', 'Hearth-Embed:latest'],
  ] as const)(
    'of %s for a built-in model that was removed says only how to restore it',
    async (path, model) => {
      const { status, body } = await post(path, { model, ...plain[path] });
      expect([status, body.code]).toEqual([404, 'model_not_found']);
      expect(body.error).toMatch(/it ships with Hearth, so run: hearth restore hearth-(mini|embed)\.$/);
    },
  );

  it.each([
    ['/v1/chat/completions', installed.embedding],
    ['/v1/embeddings', installed.chat],
    ['/v1/completions', installed.embedding],
  ] as const)('of %s is 400 for a model of the wrong kind', async (path, model) => {
    const reply = await post(path, { model, ...plain[path] });
    verifies(['errors.400', 'post-embeddings.errors'], () =>
      expect([reply.status, reply.body.code]).toEqual([400, 'wrong_model_kind']),
    );
    expect(reply.body.error).toContain(model);
  });

  it('carries both identity headers on the bound routes', async () => {
    for (const reply of [
      await chat({ model: 'nobody' }),
      await chat({}, { 'content-type': 'text/plain' }),
      await ask({ path: '/v1/chat/completions' }),
      await get('/v1/identity?nonce=x'),
      await get('/v1/identity', { host: 'evil.test' }),
    ]) {
      expect(reply.status).toBeGreaterThanOrEqual(400);
      verifies(['service.bound', 'endpoints.bound'], () => {
        expect(reply.headers['x-svc-instance-id']).toBe(service.instanceId);
        expect(reply.headers['x-svc-boot-id']).toBe(service.bootId);
      });
    }
  });

  it('stands in the status line too, for clients that show nothing else', async () => {
    expect((await chat({ temperature: 'hot' })).statusMessage).toBe('temperature must be a number.');
    const odd = await chat({ model: 'naïve\r\nX-Evil: 1\u0000 '.repeat(40).slice(0, 500) });
    expect(odd.status).toBe(404);
    expect(odd.statusMessage.length).toBeLessThanOrEqual(200);
    expect(odd.headers['x-evil']).toBeUndefined();
  });

  it('echoes a harmless request id and replaces any other', async () => {
    const echoed = await get('/nowhere', { 'x-request-id': 'my-id.7_A' });
    expect(echoed.headers['x-request-id']).toBe('my-id.7_A');
    for (const id of ['two words', '"quoted"', 'x'.repeat(129), ''])
      expect((await get('/nowhere', { 'x-request-id': id })).headers['x-request-id']).toMatch(/^req_/);

    const ids = [await get('/health'), await get('/health')].map(({ headers }) => headers['x-request-id']);
    expect(new Set(ids).size).toBe(2);
  });
});

describe('the status', () => {
  it.each([
    ['GET', '/nowhere'],
    ['POST', '/nowhere'],
    ['GET', '/v1'],
    ['GET', '/v2/models'],
    ['GET', '/health/'],
    ['GET', '/HEALTH'],
    ['GET', '/v1/chat'],
    ['GET', '//health'],
    ['GET', '/v1/../health'],
    ['PURGE', '/nowhere'],
  ])('is 404 for %s %s', async (method, path) => {
    const reply = await ask({ method, path });
    expect([reply.status, reply.body.code]).toEqual([404, 'route_not_found']);
    expect(reply.body.error).toMatch(/GET \/v1\/identity|use GET \/(?:v1\/models|health)\.$/);
  });

  it.each([...new Set(shownRoutes.map(({ path }) => path))])(
    'of %s is 405 for every other method, whatever else its own ones need, and Allow names those',
    async (pattern) => {
      const path = pattern.replace(/:\w+|\*/, 'x');
      const allow = shownRoutes
        .filter((route) => route.path === pattern)
        .map(({ method }) => method as string);
      const answered = [...allow, ...(allow.includes('GET') ? ['HEAD'] : []), 'CONNECT'];
      // Of `/`, methods that fastify does not know are no route's.
      const others = METHODS.filter(
        (method) => !answered.includes(method) && (path !== '/' || isUsual(method)),
      );
      for (const method of others) {
        const { status, headers } = await ask({ method, path });
        const got = [method, status, headers['allow'], headers['x-svc-error-code']];
        expect(got).toEqual([method, 405, allow.join(', '), 'method_not_allowed']);
      }
    },
  );

  it.each(['/health', '/v1/identity', '/v1/models', '/v1/models/default', '/openapi.json', '/'])(
    'is 200 for HEAD %s, without a body',
    async (path) => {
      const { status, headers } = await ask({ method: 'HEAD', path });
      expect(status).toBe(200);
      expect(Number(headers['content-length'])).toBeGreaterThan(0);
    },
  );

  it.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'json',
    '',
  ])('is 415 for the content type %j', async (type) => {
    const body = JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'x' }] });
    const headers = { 'content-type': type };
    const reply = await ask({ method: 'POST', path: '/v1/chat/completions', body, headers });
    expect([reply.status, reply.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each([
    ['gzip', 415],
    ['identity', 200],
  ])('is told for the content coding %s', async (coding, status) => {
    const body = JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'x' }] });
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const reply = await ask({ method: 'POST', path: '/v1/chat/completions', body, headers });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.body.code).toBe('unsupported_content_encoding');
  });

  it('is 505 for a request of HTTP/2.0', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.end('GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 505 /);
  });

  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'is 200 for the content type %s of a program',
    async (type) => {
      const body = JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'x' }] });
      const headers = { 'content-type': type };
      expect((await ask({ method: 'POST', path: '/v1/chat/completions', body, headers })).status).toBe(200);
    },
  );

  it('is 413 for a body above the limit, which ends the connection', async () => {
    const { status, headers, body } = await chat({ messages: [{ role: 'user', content: 'x'.repeat(5000) }] });
    expect([status, body.code]).toEqual([413, 'body_too_large']);
    expect(body.error).toContain('4096');
    expect(headers['connection']).toBe('close');
  });

  it('is 400 for a path that is not usable', async () => {
    const paths = ['/v1/models/%zz', '/%', `/v1/models/${'x'.repeat(2000)}`];
    const statuses = await Promise.all(paths.map(async (path) => (await get(path)).status));
    expect(statuses).toEqual([400, 400, 404]);
  });

  /** Every code that can come from the engine, with what a client is told about trying again. */
  const fromEngine: [SvcError, number, boolean, string | undefined][] = [
    [
      fail('context_length_exceeded', { promptTokens: 900, numCtx: 512, param: 'messages' }),
      400,
      false,
      undefined,
    ],
    [fail('template_failed', { reason: 'roles must alternate' }), 400, false, undefined],
    [fail('queue_full', { limit: 2, retryAfterS: 2.2 }), 429, true, '3'],
    [fail('draining'), 503, true, '1'],
    [fail('native_unavailable', { reason: 'none installed' }), 503, false, undefined],
    [fail('files_changed', { reason: 'main.js changed' }), 503, false, undefined],
    [fail('out_of_memory', { model: 'm', reason: 'no room' }), 503, false, undefined],
    [fail('load_failed', { model: 'm', reason: 'bad' }), 503, false, undefined],
    [fail('model_quarantined', { model: 'm', reason: 'bad', retryAfterS: 30 }), 503, false, '30'],
    [fail('model_damaged', { model: 'm', reason: 'cut' }), 503, false, undefined],
    [fail('worker_crashed', { model: 'm', reason: 'signal SIGKILL' }), 503, true, '1'],
    [fail('worker_hung', { model: 'm', reason: 'silent' }), 503, true, '1'],
    [fail('poison_request', { crashes: 2, refusedS: 600 }), 500, false, undefined],
    [fail('internal'), 500, false, undefined],
  ];
  const named = fromEngine.map((row) => [row[0].code, ...row] as const);
  it.each(named)('of %s tells whether a repeat can help', async (code, failure, status, retry, after) => {
    for (const path of ['/v1/chat/completions', '/v1/embeddings']) {
      service.engine.plays([queued(1), failure]);
      const model = path.endsWith('embeddings') ? 'default-embedding' : 'default';
      const reply = await post(path, { model, messages: [{ role: 'user', content: 'x' }], input: 'x' });
      expect([reply.status, reply.body.code, reply.headers['x-svc-error-code']]).toEqual([
        status,
        code,
        code,
      ]);
      expect(reply.headers['x-should-retry']).toBe(retry ? undefined : 'false');
      expect(reply.headers['retry-after']).toBe(after);
    }
    // The same before a stream has begun.
    service.engine.plays([failure]);
    expect((await chat({ stream: true })).status).toBe(status);
  });

  it('of one failed answer of several is that of the request, and the others are stopped', async () => {
    const before = service.engine.played.length;
    service.engine.plays(
      [started(), fail('worker_hung', { model: 'm', reason: 'silent' })],
      [started(), forEver()],
      [queued(1), forEver()],
    );
    const { status, body } = await chat({ n: 3 });
    expect([status, body.code]).toEqual([503, 'worker_hung']);
    const endings = service.engine.played.slice(before).map(({ ended }) => ended);
    expect(await Promise.all(endings)).toEqual(['failed', 'aborted', 'aborted']);
  });

  it('of a prompt that does not fit names both numbers', async () => {
    service.engine.plays([fail('context_length_exceeded', { promptTokens: 7900, numCtx: 4096 })]);
    const { error } = (await chat()).body;
    expect(error).toMatch(/7900 tokens.*4096 tokens \(num_ctx\)/);
    // What LangChain and LiteLLM search for, letter by letter.
    expect(error).toContain('context_length_exceeded');
    expect(error).toContain('exceeds the available context size');
    // LangChain again, in the error frame of a stream.
    expect(error).toContain('exceeds the context window');
  });

  it('of a bug is 500 with a constant sentence, and the log has the cause', async () => {
    service.engine.plays([started(), new TypeError('inside of the program')]);
    const { status, body } = await chat();
    expect([status, body.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(body)).not.toContain('inside');
    expect(service.log()).toContain('inside of the program');
  });

  it('is one of the known ones for every code of the catalogue', async () => {
    const known = [400, 401, 403, 404, 405, 408, 409, 413, 415, 417, 429, 431, 500, 503, 505];
    for (const code of allCodes) {
      if (catalogueEntry(code).family === 'cancelled') continue;
      service.engine.plays([sampleFailure(code)]);
      const { status } = await chat();
      expect(known, code).toContain(status);
    }
  });
});

/** Methods that can be passed around; the service exists only once the tests run. */
function bind() {
  return {
    ask: (...args: Parameters<typeof service.client.ask>) => service.client.ask(...args),
    chat: (...args: Parameters<typeof service.client.chat>) => service.client.chat(...args),
    get: (...args: Parameters<typeof service.client.get>) => service.client.get(...args),
    post: (...args: Parameters<typeof service.client.post>) => service.client.post(...args),
  };
}
