/** Floods: refused before anything is read, in the words of each dialect, and never instead of another refusal. */
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { crowdedOut } from '../../../src/engine/scheduler/policy/admission.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../../src/engine/scheduler/limits.ts';
import { initialState } from '../../../src/engine/scheduler/policy/state.ts';
import { hello } from '../../support/http/http-client.ts';
import { exchange } from '../../support/http/raw-exchange.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const service = scriptedService({ apiKey: 'k' });
const key = { authorization: 'Bearer k' };

describe('a chat that would find no place to wait', () => {
  it.each(['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/responses'])(
    'is refused at %s although its body could not be read, and says when to come again',
    async (path) => {
      service.engine.crowd = { limit: 4, retryAfterS: 7 };
      const refused = await post(path, key, '{ this is not JSON');
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('7');
      expect(refused.headers.get('x-svc-error-code')).toBe('queue_full');
      expect(refused.headers.get('x-svc-instance-id')).toBeTruthy();
      expect(await refused.text()).toContain('The queue is full (4 requests waiting)');
      service.engine.crowd = null;
      expect((await post(path, key, '{ this is not JSON')).status).toBe(400);
    },
  );

  it('is refused for its key or its page first, and other routes never are', async () => {
    service.engine.crowd = { limit: 4, retryAfterS: 7 };
    const path = '/v1/chat/completions';
    expect((await post(path, {}, JSON.stringify(hello))).status).toBe(401);
    expect((await post(path, { ...key, origin: 'https://evil.example' }, '{}')).status).toBe(403);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    service.engine.crowd = null;
    expect((await post(path, key, JSON.stringify(hello))).status).toBe(200);
    expect(service.engine.arrivals.at(-1)).toEqual(new Map());
  });
});

describe('a connection that is made while others are turned away', () => {
  const head = (path: string, extra = ''): string =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n${extra}`;
  const chat = (body: string): string =>
    `${head('/v1/chat/completions', 'X-Request-Id: mine\r\n')}Content-Length: ${body.length}\r\n\r\n${body}`;
  const ask = async (...pieces: string[]) => (await exchange(service.port, pieces)).answers[0];
  const crowd = async () => {
    service.engine.crowd = { limit: 4, retryAfterS: 7 };
    expect((await post('/v1/chat/completions', key, '{}')).status).toBe(429);
  };
  /** Ids of the requests that node:http saw. */
  const seen: (string | undefined)[] = [];
  beforeAll(() =>
    service.app.server.on('request', (request: IncomingMessage) =>
      seen.push(String(request.headers['x-request-id'])),
    ),
  );

  it('is answered alike before node:http sees it, also where its body has not come yet', async () => {
    await crowd();
    const { status, headers, body } = (await ask(chat('{}'))) ?? {};
    expect([status, headers?.['retry-after'], headers?.['x-svc-error-code']]).toEqual([
      429,
      '7',
      'queue_full',
    ]);
    expect([headers?.['x-request-id'], headers?.['connection']]).toEqual(['mine', 'close']);
    expect(headers?.['x-svc-boot-id']).toBe(service.bootId);
    expect(JSON.parse(body ?? '')).toMatchObject({ code: 'queue_full' });
    const late = chat('{"a":1}');
    expect((await ask(late.slice(0, -5), late.slice(-5)))?.status).toBe(429);
    expect(seen).not.toContain('mine');
    service.engine.crowd = null;
  });

  it('reaches node:http whole where it may come in, however it is cut', async () => {
    const text = chat(JSON.stringify(hello))
      .replace('mine', 'theirs')
      .replace('Host', 'Connection: close\r\nHost');
    for (const cut of [20, 150, text.length - 9]) {
      await crowd();
      service.engine.crowd = null;
      expect((await ask(text.slice(0, cut), text.slice(cut)))?.status).toBe(200);
    }
    expect(seen.filter((id) => id === 'theirs')).toHaveLength(3);
  });

  it('is refused by others where the queue is not the reason, and answered where it does not wait', async () => {
    await crowd();
    const close = 'Connection: close\r\n';
    const refused = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}Content-Length: 2\r\n\r\n{}`;
    expect((await ask(refused))?.status).toBe(401);
    expect((await ask(refused.replace('127.0.0.1', 'evil')))?.status).toBe(403);
    expect((await ask(`GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}\r\n`))?.status).toBe(200);
    expect((await ask('nonsense\r\n\r\n'))?.status).toBe(400);
    service.engine.crowd = null;
  });

  it('is counted, and told in one line for all', async () => {
    const { body } = (await ask(`${head('/metrics').replace('POST', 'GET')}Connection: close\r\n\r\n`)) ?? {};
    expect(body).toMatch(/hearth_refusals_total\{code="queue_full"\} ([5-9]|\d\d)/);
    expect(service.log()).toContain('"error":"queue_full"');
  });
});

describe('a body that never ends', () => {
  it('takes no place from others', async () => {
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n';
    const half = `${head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    let heads = 0;
    const isHere = new Promise<void>((resolve) => {
      service.app.server.on('request', () => (heads += 1) === 3 && resolve());
    });
    const sockets = Array.from({ length: 3 }, () => net.connect(service.port, '127.0.0.1'));
    for (const socket of sockets) socket.write(half);
    await isHere;
    expect((await post('/v1/chat/completions', key, JSON.stringify(hello))).status).toBe(200);
    expect(service.engine.arrivals.at(-1)).toEqual(new Map());
    for (const socket of sockets) socket.destroy();
  });
});

describe('the decision', () => {
  const limits = { ...DEFAULT_SCHEDULER_LIMITS, maxQueue: 4 };
  const decide = (flow: string, arriving: Readonly<Record<string, number>>) =>
    crowdedOut(initialState(), limits, { flow, arriving: new Map(Object.entries(arriving)) })?.limit ?? null;

  it('counts what was let in, and lets in whoever has clearly less than another', () => {
    expect(decide('a', { a: 3 })).toBeNull();
    expect(decide('a', { a: 4 })).toBe(4);
    expect(decide('b', { a: 4 })).toBeNull();
    expect(decide('b', { a: 2, b: 2 })).toBe(4);
  });
});

function post(path: string, headers: Record<string, string>, body: string): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}
