/** A client that goes away stops its job, whatever the job is doing; one that stays to the end stops nothing. */
import http from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { hello } from '../../support/http/http-client.ts';
import {
  answer,
  forEver,
  type Played,
  queued,
  type Step,
  started,
  text,
} from '../../support/http/scripted-engine.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const service = scriptedService();

afterEach(async () => {
  // Nobody is there to read an answer, and nothing is wrong with the service.
  expect(service.log()).not.toMatch(/"level":(50|60)/);
  service.engine.plays(answer('still here'));
  expect((await service.client.chat()).body.choices[0].message.content).toBe('still here');
});

const phases: [string, Step[]][] = [
  ['before the engine says anything', [forEver()]],
  ['in the queue', [queued(3), forEver()]],
  ['before the first token', [started(), forEver()]],
  ['between tokens', [started(), text('a'), text('b'), forEver()]],
];

const requests: [string, string, object][] = [
  ['a chat', '/v1/chat/completions', hello],
  ['a chat stream', '/v1/chat/completions', { ...hello, stream: true }],
  ['a text completion', '/v1/completions', { model: 'default', prompt: 'x' }],
  ['a text stream', '/v1/completions', { model: 'default', prompt: 'x', stream: true }],
  ['an embedding', '/v1/embeddings', { model: 'default-embedding', input: 'x' }],
];

/** Sends a request and returns its socket and its job once the job has begun. */
async function begin(path: string, body: object): Promise<{ socket: net.Socket; job: Played }> {
  const bytes = JSON.stringify(body);
  const job = service.engine.nextJob();
  const socket = net.connect(service.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n${bytes}`,
  );
  return { socket, job: await job };
}

const departures: [string, (socket: net.Socket) => void][] = [
  ['closes', (socket) => socket.destroy()],
  ['resets', (socket) => socket.resetAndDestroy()],
  ['says goodbye', (socket) => socket.end()],
];

describe.each(phases)('a client that leaves %s', (_, steps) => {
  it.each(requests)('stops the job of %s', async (_name, path, body) => {
    for (const [, leave] of departures) {
      service.engine.plays(steps);
      const { socket, job } = await begin(path, body);
      leave(socket);
      await job.aborted;
      expect(await job.ended).toBe('aborted');
    }
  });
});

describe('a client that leaves a stream', () => {
  it('after its first text stops the job', async () => {
    service.engine.plays([started(), text('a'), forEver()]);
    const stream = await service.client.streamChat();
    await stream.firstText();
    stream.abandon();
    expect(await service.engine.lastJob.ended).toBe('aborted');
  });

  it('of several answers stops them all', async () => {
    service.engine.plays([started(), forEver()], [started(), text('b'), forEver()], [queued(1), forEver()]);
    const before = service.engine.played.length;
    const { socket } = await begin('/v1/chat/completions', { ...hello, n: 3 });
    socket.destroy();
    const jobs = service.engine.played.slice(before);
    expect(await Promise.all(jobs.map((job) => job.ended))).toEqual(['aborted', 'aborted', 'aborted']);
  });

  it('in the middle of its own body starts no job', async () => {
    const before = service.engine.played.length;
    const socket = net.connect(service.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n',
    );
    await new Promise((resolve) => socket.write('Content-Length: 1000\r\n\r\n{"model":', resolve));
    const gone = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy();
    await gone;
    expect((await service.client.get('/health')).status).toBe(200);
    expect(service.engine.played.length).toBe(before);
  });
});

describe('a client that stays', () => {
  it.each(requests)('to the end of %s stops nothing', async (_, path, body) => {
    const bytes = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) };
    const agent = new http.Agent({ keepAlive: true });
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.request(new URL(path, service.url), { method: 'POST', headers, agent }, resolve);
      request.once('error', reject).end(bytes);
    });
    for await (const chunk of response) void chunk;
    agent.destroy();
    expect(await service.engine.lastJob.ended).toBe('complete');
  });
});
