/** Floods: refused before anything is read, in the words of each dialect, and never instead of another refusal. */
import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { crowdedOut } from '../../../src/engine/scheduler/policy/admission.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../../src/engine/scheduler/limits.ts';
import { initialState } from '../../../src/engine/scheduler/policy/state.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';
import { hello } from '../../support/http/http-client.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const service = scriptedService({ apiKey: 'k' });
const key = { authorization: 'Bearer k' };

describe('a chat that would find no place to wait', () => {
  it.each(['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/responses'])(
    'is refused at %s although its body could not be read, and says when to come again',
    async (path) => {
      service.engine.crowd = fail('queue_full', { limit: 4, retryAfterS: 7 });
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
    service.engine.crowd = fail('queue_full', { limit: 4, retryAfterS: 7 });
    const path = '/v1/chat/completions';
    expect((await post(path, {}, JSON.stringify(hello))).status).toBe(401);
    expect((await post(path, { ...key, origin: 'https://evil.example' }, '{}')).status).toBe(403);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    service.engine.crowd = null;
    expect((await post(path, key, JSON.stringify(hello))).status).toBe(200);
    expect(service.engine.arrivals.at(-1)).toEqual(new Map());
  });
});

describe('a body that never ends', () => {
  it('takes no place from others', async () => {
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n';
    const half = `${head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    const before = service.engine.arrivals.length;
    const sockets = Array.from({ length: 3 }, () => net.connect(service.port, '127.0.0.1'));
    for (const socket of sockets) socket.write(half);
    while (service.engine.arrivals.length < before + 3) await once(service.app.server, 'request');
    expect((await post('/v1/chat/completions', key, JSON.stringify(hello))).status).toBe(200);
    expect(service.engine.arrivals.at(-1)).toEqual(new Map());
    for (const socket of sockets) socket.destroy();
  });
});

describe('the decision', () => {
  const limits = { ...DEFAULT_SCHEDULER_LIMITS, maxQueue: 4 };
  const decide = (flow: string, arriving: Readonly<Record<string, number>>) =>
    crowdedOut(initialState(), limits, { flow, arriving: new Map(Object.entries(arriving)) })?.code ?? null;

  it('counts what was let in, and lets in whoever has clearly less than another', () => {
    expect(decide('a', { a: 3 })).toBeNull();
    expect(decide('a', { a: 4 })).toBe('queue_full');
    expect(decide('b', { a: 4 })).toBeNull();
    expect(decide('b', { a: 2, b: 2 })).toBe('queue_full');
  });
});

function post(path: string, headers: Record<string, string>, body: string): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}
