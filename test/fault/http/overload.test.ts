/** Floods: refused before the body is read, in the words of each dialect, and never instead of another refusal. */
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { surplusChat } from '../../../src/server/engine/scheduler/policy/admission.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../../src/server/engine/scheduler/limits.ts';
import { initialState, modelState, type Ticket } from '../../../src/server/engine/scheduler/policy/state.ts';
import { hello } from '../../support/http/http-client.ts';
import { exchange } from '../../support/http/raw-exchange.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';
import { modelTarget } from '../../support/engine/scheduler-world.ts';

const service = scriptedService({ apiKey: 'k' });
const key = { authorization: 'Bearer k' };
const full = { limit: 4, retryAfterS: 7 };
const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n';

describe('a chat that would find no place to wait', () => {
  it.each(['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/responses'])(
    'is refused at %s although its body could not be read, and says when to come again',
    async (path) => {
      service.engine.full = full;
      const refused = await post(path, key, '{ this is not JSON');
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('7');
      expect(refused.headers.get('x-svc-error-code')).toBe('queue_full');
      expect(refused.headers.get('x-svc-instance-id')).toBeTruthy();
      expect(await refused.text()).toContain('The queue is full (4 requests waiting)');
      service.engine.full = null;
      expect((await post(path, key, '{ this is not JSON')).status).toBe(400);
    },
  );

  it('is refused while its body is still to come', async () => {
    service.engine.full = full;
    const half = `${head}Connection: close\r\nContent-Length: 99\r\n\r\n{`;
    const { answers } = await exchange(service.port, [half]);
    expect(answers[0]?.status).toBe(429);
    service.engine.full = null;
  });

  it('is refused for its key or its page first, and other routes never are', async () => {
    service.engine.full = full;
    const path = '/v1/chat/completions';
    expect((await post(path, {}, JSON.stringify(hello))).status).toBe(401);
    expect((await post(path, { ...key, origin: 'https://evil.example' }, '{}')).status).toBe(403);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    expect((await fetch(`${service.url}/v1/models`, { headers: key })).status).toBe(200);
    service.engine.full = null;
    expect((await post(path, key, JSON.stringify(hello))).status).toBe(200);
  });

  it('is counted and logged', async () => {
    service.engine.full = full;
    await post('/v1/chat/completions', key, '{}');
    service.engine.full = null;
    const metrics = await (await fetch(`${service.url}/metrics`, { headers: key })).text();
    expect(metrics).toMatch(/hearth_refusals_total\{code="queue_full"\} [5-9]/);
    expect(service.log()).toContain('"error":"queue_full"');
  });
});

describe('bodies that never end', () => {
  it('take no place from others', async () => {
    const half = `${head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    let heads = 0;
    const isHere = new Promise<void>((resolve) => {
      service.app.server.on('request', () => (heads += 1) === 3 && resolve());
    });
    const sockets = Array.from({ length: 3 }, () => net.connect(service.port, '127.0.0.1'));
    for (const socket of sockets) socket.write(half);
    await isHere;
    expect((await post('/v1/chat/completions', key, JSON.stringify(hello))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

describe('the decision', () => {
  const decide = (flow: string, waiting: readonly string[]) => {
    const state = initialState();

    const { queue } = modelState(state, modelTarget('m', 1));
    for (const each of waiting) queue.push({ flow: each } as Ticket);
    return surplusChat(state, { ...DEFAULT_SCHEDULER_LIMITS, maxQueue: 4 }, flow)?.limit ?? null;
  };

  it('counts what waits, and lets in whoever has clearly less waiting than another', () => {
    expect(decide('a', ['a', 'a', 'a'])).toBeNull();
    expect(decide('a', ['a', 'a', 'a', 'a'])).toBe(4);
    expect(decide('b', ['a', 'a', 'a', 'a'])).toBeNull();
    expect(decide('b', ['a', 'a', 'b', 'b'])).toBe(4);
  });
});

function post(path: string, headers: Record<string, string>, body: string): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}
