/** Who may talk to the service: Host against DNS rebinding, Origin against other sites, the key against everybody. */
import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { HttpClient, hello } from '../../support/http/http-client.ts';
import { exchange } from '../../support/http/raw-exchange.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';
import { verifies } from '../../contract/requirements.ts';

const service = scriptedService();
const named = scriptedService({ allowedHosts: ['hearth.lan'] });
const key = 'sk-test-0123456789';
const allowing = scriptedService({ allowedOrigins: ['https://chat.example', 'app://obsidian.md'] });
const openToPages = scriptedService({ allowLocalPages: true });
const locked = scriptedService({ apiKey: key });
const lockedAllowing = scriptedService({ apiKey: key, allowedOrigins: ['https://chat.example'] });
const chatPath = '/v1/chat/completions';

/** Refused without a job. */
async function refusedChat(headers: Record<string, string>, status: number): Promise<string> {
  const reply = await service.client.chat({}, headers);
  expect(reply.status).toBe(status);
  expect(service.engine.played).toEqual([]);
  return String(reply.body.error);
}

describe('the Host header', () => {
  it.each([
    'evil.test',
    'evil.test:8740',
    '127.0.0.1.nip.io',
    '127.0.0.1.evil.test:8740',
    'localhost.evil.test',
    'evil-localhost',
    'localhost.',
    '127.0.0.1.',
    '127.0.0.2',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[::]',
    '::1',
    '10.0.0.1',
    '192.168.1.5:8740',
    'printer.local',
    'service.internal',
    'user@localhost',
    'localhost@evil.test',
    'localhost:80@evil.test',
    'localhost/evil.test',
    'localhost evil.test',
    'localhost, evil.test',
    'localhost:notaport',
    'localhost:',
    'locälhost',
    '%6cocalhost',
    '',
  ])('%j is refused', async (host) => {
    const { answers } = await exchange(service.port, [
      Buffer.from(`GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403]);
    expect(answers[0]?.body).toContain('"code":"forbidden_host"');
    expect(answers[0]?.body).toContain('SVC_ALLOWED_HOSTS');
  });

  it.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST', 'localhost:1', '127.0.0.1:65535', '[::1]:8740'])(
    '%j is accepted, whatever the port, because ports are mapped',
    async (host) => {
      expect((await service.client.get('/v1/models', { host })).status).toBe(200);
    },
  );

  it('given twice is refused, even when one of them is right', async () => {
    for (const [first, second] of [
      ['localhost', 'evil.test'],
      ['evil.test', 'localhost'],
      ['localhost', 'localhost'],
    ]) {
      const { answers } = await exchange(service.port, [
        `GET /v1/models HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\nConnection: close\r\n\r\n`,
      ]);
      expect(answers.map(({ status }) => status)).toEqual([403]);
    }
  });

  it('is not overruled by a whole URL in the request line', async () => {
    for (const [url, host] of [
      ['http://evil.test/v1/models', 'localhost'],
      ['http://localhost/v1/models', 'evil.test'],
      ['http://user@localhost/v1/models', 'localhost'],
      ['http://localhost.evil.test/v1/models', 'localhost'],
    ]) {
      const { answers } = await exchange(service.port, [
        `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ]);
      expect(answers.map(({ status }) => status)).toEqual([403]);
    }
    const { answers } = await exchange(service.port, [
      'GET http://localhost/v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });

  it('is checked on every route, /health and unknown ones included', async () => {
    for (const path of ['/health', '/v1/identity', '/v1/models', '/openapi.json', '/nowhere', '/']) {
      const { status, body } = await service.client.get(path, { host: 'evil.test' });
      expect([status, body.code]).toEqual([403, 'forbidden_host']);
    }
    await refusedChat({ host: 'evil.test' }, 403);
  });

  it('may be a name of SVC_ALLOWED_HOSTS, in any case, and no name below it', async () => {
    for (const host of ['hearth.lan', 'Hearth.LAN:8740'])
      expect((await named.client.get('/health', { host })).status).toBe(200);

    for (const host of ['x.hearth.lan', 'hearth.lan.evil.test'])
      expect((await named.client.get('/health', { host })).status).toBe(403);
  });
});

const foreign = [
  'http://evil.test',
  'https://evil.test',
  'null',
  'http://localhost.evil.com',
  'http://notlocalhost',
  'http://localhost:1',
  'http://127.0.0.1.nip.io',
  'file://',
  'chrome-extension://abc',
  'https://chat.example.evil.test',
  'HTTPS://CHAT.EXAMPLE',
  'https://chat.example:8443',
  'https://chat.example/',
  'https://chat.example, http://evil.test',
  '',
];

describe('the Origin header', () => {
  it.each(foreign)('%j is refused, and nothing is generated', async (origin) => {
    await refusedChat({ origin }, 403);
    expect((await allowing.client.chat({}, { origin })).status).toBe(403);
    expect(allowing.engine.played).toEqual([]);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'])(
    'of another site is refused for the content type %s, which needs no preflight',
    async (type) => {
      for (const origin of ['http://evil.test', 'null']) {
        const headers = { origin, 'content-type': type };
        await refusedChat(headers, 403);
      }
    },
  );

  it('hidden by a browser is refused by what Sec-Fetch-Site says', async () => {
    await refusedChat({ 'sec-fetch-site': 'cross-site' }, 403);
    expect((await service.client.get('/v1/models', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });

  it('that cannot be told from a form of a browser is refused without JSON', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await refusedChat({ ...form, 'sec-fetch-site': 'same-origin' }, 415);
    await refusedChat({ ...form, origin: service.url }, 415);
  });

  it('of the service itself is accepted, without CORS headers', async () => {
    const { status } = await service.client.get('/v1/models', { origin: service.url });
    expect(status).toBe(200);
  });

  it('given twice is refused', async () => {
    const { answers } = await exchange(service.port, [
      `GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.test\r\nConnection: close\r\n\r\n`,
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403]);
  });

  it('of the list is accepted exactly, and is the only one named in return', async () => {
    for (const origin of ['https://chat.example', 'app://obsidian.md']) {
      const reply = await allowing.client.ask({ path: '/v1/models', headers: { origin }, cors: true });
      expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([200, origin]);
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
      expect(reply.headers['vary']).toMatch(/Origin/i);
      expect(reply.headers['access-control-expose-headers']).toMatch(/X-Svc-Instance-Id/i);
    }
  });
});

const preflight = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
  'access-control-request-private-network': 'true',
});

async function preflightOf(
  target: { readonly url: string },
  origin = 'https://chat.example',
): Promise<http.IncomingMessage> {
  const headers = preflight(origin);
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const url = new URL(chatPath, target.url);
    http.request(url, { method: 'OPTIONS', headers }, resolve).once('error', reject).end();
  });
  return response.resume();
}

describe('a page of this machine', () => {
  it('may call and read the answer once the switch is on, and no other page may', async () => {
    const origin = 'http://localhost:3000';
    const { client } = openToPages;
    const asked = await preflightOf(openToPages, origin);
    expect([asked.statusCode, asked.headers['access-control-allow-origin']]).toEqual([204, origin]);
    const answer = await client.ask({ path: '/v1/models', headers: { origin }, cors: true });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin]);
    const others = ['https://evil.example', 'http://localhost.evil.example'];
    const from = (page: string) => ({ path: '/v1/models', headers: { origin: page }, cors: true });
    for (const other of others) expect((await client.ask(from(other))).status).toBe(403);
    expect((await service.client.ask({ path: '/v1/models', headers: { origin }, cors: true })).status).toBe(
      403,
    );
  });
});

describe('a preflight', () => {
  it.each(foreign)('from %j gets no permission', async (origin) => {
    for (const { client } of [service, allowing]) {
      const reply = await client.ask({ method: 'OPTIONS', path: chatPath, headers: preflight(origin) });
      expect(reply.status).toBe(403);
    }
  });

  it('without an Origin gets no permission either', async () => {
    const reply = await service.client.ask({ method: 'OPTIONS', path: chatPath });
    expect(reply.status).toBe(405);
  });

  it('from a listed origin is answered for OpenAI clients, without a wildcard', async () => {
    const { statusCode, headers } = await preflightOf(allowing);
    expect(statusCode).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://chat.example',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
    });
    expect(headers['access-control-allow-methods']).toMatch(/POST/);
    expect(headers['access-control-allow-private-network']).toBeUndefined();
    expect(allowing.engine.played).toEqual([]);
  });

  it('from a listed origin needs no key, because a browser sends none with it', async () => {
    expect((await preflightOf(lockedAllowing)).statusCode).toBe(204);
    // The request that follows needs it.
    const ask = {
      path: '/v1/models',
      headers: { origin: 'https://chat.example', authorization: '' },
      cors: true,
    };
    expect((await lockedAllowing.client.ask(ask)).status).toBe(401);
  });
});

describe('the key', () => {
  const without = () => new HttpClient(locked.url);

  it.each([
    ['GET', '/v1/identity'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/default'],
    ['POST', chatPath],
    ['POST', '/v1/embeddings'],
    ['POST', '/v1/completions'],
    ['GET', '/svc/residency'],
    ['POST', '/svc/unload'],
    ['GET', '/openapi.json'],
    ['GET', '/metrics'],
    ['GET', '/'],
    ['GET', '/nowhere'],
    ['DELETE', '/v1/models'],
  ])('is asked for by %s %s', async (method, path) => {
    const body = method === 'POST' ? { ...hello, input: 'x', prompt: 'x' } : undefined;
    const wrong = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: `Bearer ${key}x` },
      { authorization: `Bearer ${key.slice(0, -1)}` },
      { authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` },
      { authorization: key },
      { authorization: 'Bearer ' },
      { 'x-api-key': 'wrong' },
      { 'x-api-key': '' },
    ];
    for (const headers of wrong) {
      const reply = await without().ask({ method, path, body, headers });
      expect([reply.status, reply.body.code]).toEqual([401, 'unauthorized']);
      expect(reply.text).not.toContain(key);
    }
    const bound = { 'x-svc-instance-id': locked.instanceId, 'x-svc-boot-id': locked.bootId };
    const { status, headers } = await without().ask({ method, path, body, headers: bound });
    // Who the process is, is no secret and opens nothing.
    verifies('auth.not-credentials', () => {
      expect(status).toBe(401);
      expect(headers).toMatchObject(bound);
    });
    expect(locked.engine.played).toEqual([]);
  });

  it('is not asked for by GET /health', async () => {
    const { status } = await without().get('/health');
    verifies('auth.health', () => expect(status).toBe(200));
    expect((await without().ask({ method: 'HEAD', path: '/health' })).status).toBe(200);
  });

  it.each([{ authorization: `Bearer ${key}` }, { authorization: `bearer  ${key}` }, { 'x-api-key': key }])(
    'opens as %o',
    async (headers) => {
      expect((await without().get('/v1/models', headers as Record<string, string>)).status).toBe(200);
    },
  );

  it('is not in the log, right or wrong', async () => {
    await without().get('/v1/models', { authorization: 'Bearer a-wrong-key' });
    await without().get('/v1/models', { 'x-api-key': key });
    expect(locked.log()).not.toContain(key);
    expect(locked.log()).not.toContain('a-wrong-key');
  });

  it('that nobody asked for is ignored, as OpenAI clients always send one', async () => {
    expect((await service.client.get('/v1/models', { authorization: 'Bearer sk-none' })).status).toBe(200);
  });
});
