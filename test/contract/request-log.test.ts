/** One line in the log for each request: what was asked of whom and how it went, and never what it said. */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { readableLine } from '../../src/cli/log/readable.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService({ apiKey: 'sk-secret-key' });
const canary = 'a-word-of-the-prompt';
const messages = [{ role: 'user', content: canary }];

interface Line {
  readonly level: number;
  readonly requestId?: string;
  readonly [name: string]: unknown;
}

/** The line of a request, once its response is over. */
async function lineOf(requestId: string): Promise<Line> {
  while (true) {
    const lines = service
      .log()
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const own = lines.map((line) => JSON.parse(line) as Line).filter((line) => line.requestId === requestId);
    if (own[0] !== undefined) {
      expect(own).toHaveLength(1);
      return own[0];
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the line of a request', () => {
  it('tells model, times and tokens of a whole answer and of a stream', async () => {
    service.engine.plays(answer('a', 'b'), answer('a', 'b'));
    await service.client.chat({ messages }, { 'x-request-id': 'whole' });
    await (await service.client.streamChat({ messages }, { 'x-request-id': 'stream' })).all();
    for (const id of ['whole', 'stream']) {
      expect(await lineOf(id)).toMatchObject({
        level: 30,
        method: 'POST',
        route: '/v1/chat/completions',
        status: 200,
        model: installed.chat,
        ms: expect.any(Number),
        waitMs: expect.any(Number),
        promptTokens: 7,
        cachedTokens: 3,
        completionTokens: 2,
        prefillMs: 4,
        decodeMs: 2,
        finishReason: 'stop',
        client: expect.stringMatching(/^[\w-]{16}$/),
      });
      expect(await lineOf(id)).not.toHaveProperty('error');
    }
    await service.client.embed({ input: [canary] }, { 'x-request-id': 'vectors' });
    expect(await lineOf('vectors')).toMatchObject({ model: installed.embedding, promptTokens: 2 });
  });

  it('warns of a failure with its code, and with its reason where that cannot repeat the client', async () => {
    service.engine.plays([fail('worker_crashed', { model: 'm', reason: 'signal SIGKILL' })]);
    await service.client.chat({ messages }, { 'x-request-id': 'crashed' });
    expect(await lineOf('crashed')).toMatchObject({
      level: 40,
      status: 503,
      error: 'worker_crashed',
      reason: expect.stringContaining('signal SIGKILL'),
    });
    await service.client.chat({ messages, model: canary }, { 'x-request-id': 'unknown' });
    const unknown = await lineOf('unknown');
    expect(unknown).toMatchObject({ level: 40, status: 404, error: 'model_not_found', param: 'model' });
    expect(unknown).not.toHaveProperty('reason');
  });

  it('tells of a stream that broke, and of a client that left', async () => {
    service.engine.plays([started(), text('x'), fail('worker_hung', { model: 'm', reason: 'silent' })]);
    await (await service.client.streamChat({ messages }, { 'x-request-id': 'broken' })).all();
    expect(await lineOf('broken')).toMatchObject({ level: 40, status: 200, error: 'worker_hung' });
    service.engine.plays([started(), text('x'), new Promise(() => {})]);
    const stream = await service.client.streamChat({ messages }, { 'x-request-id': 'left' });
    await stream.firstText();
    stream.abandon();
    expect(await lineOf('left')).toMatchObject({ level: 30, error: 'cancelled' });
  });

  it('is at debug for what is polled, and has no prompt, key or query', async () => {
    await service.client.get('/health', { 'x-request-id': 'polled' });
    expect((await lineOf('polled')).level).toBe(20);
    await service.client.get(`/nowhere?q=${canary}`, { 'x-request-id': 'nowhere' });
    expect(await lineOf('nowhere')).toMatchObject({ level: 40, route: '/nowhere', error: 'route_not_found' });
    expect(service.log()).not.toContain(canary);
    expect(service.log()).not.toContain('sk-secret-key');
  });
});

describe('a client that never reads', () => {
  const clock = new ManualClock();
  const stalled = scriptedService({ clock });

  it('is named as such, and not as one that disconnected', async () => {
    stalled.engine.plays([started(), ...Array.from({ length: 24 }, () => text('x'.repeat(1_000_000)))]);
    const body = JSON.stringify({ model: installed.chat, messages, stream: true });
    const { hostname, port } = new URL(stalled.url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Request-Id: stalled\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    while (!stalled.log().includes('"requestId":"stalled"')) await clock.advance(1_000);
    socket.destroy();
    const line = stalled
      .log()
      .split('\n')
      .find((each) => each.includes('"requestId":"stalled"'));
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 40, status: 200, error: 'client_stalled' });
  });
});

describe('a line on a terminal', () => {
  it('is short, and cannot move the cursor', () => {
    const json = JSON.stringify({
      level: 'warn',
      time: '2026-11-22T12:03:44.123Z',
      route: '/x\u001b[2J',
      status: 404,
      reason: 'two words',
      msg: 'request failed',
    });
    expect(readableLine(json)).toBe(
      '12:03:44 warn request failed route=/x\ufffd[2J status=404 reason="two words"\n',
    );
  });
});
