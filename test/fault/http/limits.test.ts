/** Clients that are slow, silent, many or greedy. Time limits are shortened, so that they pass within a test. */
import net from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../support/manual-clock.ts';
import { exchange } from '../../support/http/raw-exchange.ts';
import { answer, forEver, type Step, started, text } from '../../support/http/scripted-engine.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const limits = vi.hoisted(() => ({
  headersTimeoutMs: 1_000,
  requestTimeoutMs: 1_500,
  connectionsCheckingIntervalMs: 30,
  maxSockets: 8,
}));
vi.mock('../../../src/server/http/limits.ts', async (original) => {
  const { HTTP_LIMITS, ...others } = await original<{ HTTP_LIMITS: object }>();
  return { ...others, HTTP_LIMITS: { ...HTTP_LIMITS, ...limits } };
});

const clock = new ManualClock();
const service = scriptedService({ clock, maxBodyBytes: 64 * 1024 });
const chat = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

const closed = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on('error', () => {});
    socket.resume().once('close', () => resolve());
  });

describe('a request that does not arrive', () => {
  it.each([
    ['headers that stop', 'GET /health HTTP/1.1\r\nHost: loc'],
    ['a body that stops', `${chat}Content-Length: 1000\r\n\r\n{"model":`],
    ['chunks that stop', `${chat}Transfer-Encoding: chunked\r\n\r\n5\r\n{"mod\r\n`],
  ])('(%s) is ended with 408', async (_, bytes) => {
    const { answers } = await exchange(service.port, [bytes]);
    expect(answers.map(({ status }) => status)).toEqual([408]);
    expect(answers[0]?.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req_/),
      'x-svc-instance-id': service.instanceId,
      'x-svc-boot-id': service.bootId,
    });
    expect(answers[0]?.body).toContain('did not arrive in time');
    expect(service.engine.played).toEqual([]);
  });

  it('but drips byte by byte is ended with 408 all the same', async () => {
    const socket = net.connect(service.port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    const drip = setInterval(() => socket.write('x'), 20);
    socket.write('GET /health HTTP/1.1\r\nX-Slow: ');
    await closed(socket);
    clearInterval(drip);
    expect(Buffer.concat(received).toString()).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('and never begins is ended', async () => {
    await closed(net.connect(service.port, '127.0.0.1'));
  });

  it('takes no kept-alive connection with it', async () => {
    const kept = net.connect(service.port, '127.0.0.1');
    const get = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answered = () => new Promise<Buffer>((resolve) => kept.once('data', resolve));
    kept.write(get);
    expect(String(await answered())).toMatch(/^HTTP\/1\.1 200 /);
    // Opened later, ended earlier: the idle connection outlives the limits of requests.
    await exchange(service.port, [`${chat}Content-Length: 1000\r\n\r\n{`]);
    kept.write(get);
    expect(String(await answered())).toMatch(/^HTTP\/1\.1 200 /);
    kept.destroy();
  });
});

describe('too many connections', () => {
  it('cost the oldest that has said nothing, and never a health probe', async () => {
    const silent = Array.from({ length: limits.maxSockets }, () => net.connect(service.port, '127.0.0.1'));
    const gone = silent.map((socket, index) => closed(socket).then(() => index));
    await Promise.all(silent.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    expect((await service.client.get('/health')).status).toBe(200);
    expect(await Promise.race(gone)).toBe(0);
    for (const socket of silent) socket.destroy();
  });
});

describe('a body above the limit', () => {
  const greedy = `${chat}Content-Length: 1073741824\r\n`;

  it('is refused by its announced length', async () => {
    const { answers } = await exchange(service.port, [`${greedy}\r\n`]);
    expect(answers.map(({ status }) => status)).toEqual([413]);
  });

  it('is not asked for, when the client waits for a word', async () => {
    const { answers } = await exchange(service.port, [`${greedy}Expect: 100-continue\r\n\r\n`]);
    expect(answers.map(({ status }) => status)).toEqual([413]);
  });

  it('is cut off when it comes in chunks', async () => {
    const piece = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const { answers } = await exchange(service.port, [
      `${chat}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array.from({ length: 3 }, () => piece),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([413]);
  });
});

describe('a reader of a stream', () => {
  const flood: Step[] = Array.from({ length: 2000 }, () => text('x'.repeat(8192)));

  it('that has stopped reading is treated as gone', async () => {
    service.engine.plays([started(), ...flood, forEver()]);
    const job = service.engine.nextJob();
    const socket = net.connect(service.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    const body = '{"model":"default","stream":true,"messages":[{"role":"user","content":"x"}]}';
    socket.write(`${chat}Content-Length: ${body.length}\r\n\r\n${body}`);
    const { signal, ended } = await job;
    for (let waits = 0; waits < 20 && !signal.aborted; waits += 1) await clock.advance(30_000);
    expect(await ended).toBe('aborted');
    socket.destroy();
  });

  it('that goes on reading gets everything', async () => {
    service.engine.plays(answer(...Array.from({ length: 2000 }, () => 'x'.repeat(8192))));
    const { text: whole, done } = await (await service.client.streamChat()).all();
    expect([whole.length, done]).toEqual([2000 * 8192, true]);
  });
});

describe('a service that drains', () => {
  it('answers what it still answers and closes the connection', async () => {
    service.setDraining(true);
    const { answers } = await exchange(service.port, ['GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n']);
    service.setDraining(false);
    expect(answers.map(({ status, headers }) => [status, headers['connection']])).toEqual([[200, 'close']]);
    expect(answers[0]?.body).toContain('"status":"draining"');
  });
});
