/** Floods, slow senders and slow readers beside a stream and a probe: refusals are quick, and the others keep their speed. */
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { type Book, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const FLOOD = Number(process.env['CAMPAIGN_FLOOD'] ?? 500);
const SLOW_SOCKETS = Number(process.env['CAMPAIGN_SOCKETS'] ?? 300);
const body = JSON.stringify({
  model: 'tiny',
  messages: [{ role: 'user', content: 'Hi' }],
  max_tokens: 8,
  temperature: 0,
});

let service: CampaignService;
beforeAll(async () => {
  service = await CampaignService.make({ SVC_NUM_PARALLEL: '4', SVC_MAX_QUEUE: '32' });
  await service.start();
  await service.stream('forever', 4);
});
afterAll(() => service.remove());

scenario('overload', async ({ seed, random, book }) => {
  const slow = Array.from({ length: SLOW_SOCKETS }, () => slowSocket(random.below(3)));
  const readers = Array.from({ length: 2 }, () => stalledReader());
  const stream = service.stream('go on forever', 200);
  const probing = { on: true };
  const probes = probe(probing, book);
  const answers = await Promise.all(Array.from({ length: FLOOD }, () => flood()));
  probing.on = false;
  await probes;
  for (const socket of [...slow, ...readers]) socket.destroy();
  for (const { status, ms } of answers) {
    book.count(`answered ${status}`);
    if (status === 429) book.measure('refusal ms', ms);
    if (![200, 429].includes(status)) book.found(seed, `a flooding request got ${status}`);
  }
  const beside = await stream;
  if (beside.status === 200 && !beside.done) book.found(seed, 'the stream beside the flood was cut');
  if (service.exited) book.found(seed, 'the server ended');
});

/** Milliseconds from the moment when the request was on its way. */
function flood(): Promise<{ status: number; ms: number }> {
  return new Promise((resolve) => {
    let begun = performance.now();
    const request = http.request(
      `${service.url}/v1/chat/completions`,
      { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } },
      (response) => {
        const ms = performance.now() - begun;
        response.resume();
        response.once('close', () => resolve({ status: response.statusCode ?? 0, ms }));
      },
    );
    request.once('finish', () => {
      begun = performance.now();
    });
    request.once('error', () => resolve({ status: 0, ms: performance.now() - begun }));
    request.end(body);
  });
}

async function probe(probing: { readonly on: boolean }, book: Book): Promise<void> {
  while (probing.on) book.measure('health ms', await service.healthMs());
}

/** Sends a request so slowly that it never ends: nothing, half a head, or half a body. */
function slowSocket(kind: number): net.Socket {
  const { port } = new URL(service.url);
  const socket = net.connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n';
  if (kind === 1) socket.write(head);
  if (kind === 2) socket.write(`${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`);
  return socket;
}

/** Asks for a long stream and reads none of it. */
function stalledReader(): net.Socket {
  const { port } = new URL(service.url);
  const socket = net.connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  const long = JSON.stringify({ ...JSON.parse(body), max_tokens: 1_500, stream: true });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${long.length}\r\n\r\n${long}`,
  );
  return socket;
}
