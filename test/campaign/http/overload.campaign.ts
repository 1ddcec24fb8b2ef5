/**
 * Floods, slow senders and slow readers beside a stream and a probe: refusals are quick, and the others keep their speed.
 * What of the time is that of this machine and of the one who floods shows in the same flood of a bare server, which does
 * nothing but refuse, with nothing beside it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { type Book, pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const FLOOD = Number(process.env['CAMPAIGN_FLOOD'] ?? 500);
const SLOW_SOCKETS = Number(process.env['CAMPAIGN_SLOW'] ?? 300);
/** All in one instant, or as a crowd comes. */
const WITHIN_MS = [0, 1_000];
const chat = { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8, temperature: 0 };

let service: CampaignService;
let bare: ChildProcess;
let barePort: number;
let isFirst = true;
beforeAll(async () => {
  service = await CampaignService.make({ SVC_NUM_PARALLEL: '4', SVC_MAX_QUEUE: '32' });
  await service.start();
  await service.stream('forever', 4);
  const script = fileURLToPath(new URL('./bare-server.mjs', import.meta.url));
  bare = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(bare.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  barePort = Number(port.toString());
});
afterAll(async () => {
  bare.kill('SIGKILL');
  await service.remove();
});

scenario('overload', async ({ seed, random, book }) => {
  const withinMs = pick(random, WITHIN_MS);
  // A server that has answered no flood yet runs code that V8 has not compiled.
  const kind = `${isFirst ? 'first, ' : ''}${withinMs === 0 ? 'at once' : `within ${withinMs} ms`}`;
  isFirst = false;
  for (const { ms } of await flood(barePort, withinMs)) book.measure(`bare refusal ${kind} ms`, ms);
  const port = Number(new URL(service.url).port);
  const slow = Array.from({ length: SLOW_SOCKETS }, () => slowSocket(random.below(3)));
  const readers = Array.from({ length: 2 }, () => stalledReader());
  const stream = service.stream('go on forever', 200);
  const probing = { on: true };
  const probes = probe(probing, { book, kind });
  const answers = await flood(port, withinMs);
  probing.on = false;
  await probes;
  for (const socket of [...slow, ...readers]) socket.destroy();
  for (const { status, ms } of answers) {
    book.count(`answered ${status}`);
    if (status === 429) book.measure(`refusal ${kind} ms`, ms);
    if (![200, 429].includes(status)) book.found(seed, `a flooding request got ${status}`);
  }
  const beside = await stream;
  if (beside.status === 200 && !beside.done) book.found(seed, 'the stream beside the flood was cut');
  if (service.exited) book.found(seed, 'the server ended');
});

interface Answer {
  readonly status: number;
  /** From the moment when the request left until the first byte came back. */
  readonly ms: number;
}

function flood(port: number, withinMs: number): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: FLOOD }, async (_, index) => {
      if (withinMs > 0) await delay((withinMs * index) / FLOOD);
      return ask(port);
    }),
  );
}

/** Over a bare socket, because an HTTP client costs more than what is measured. */
function ask(port: number): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    let begun = performance.now();
    let answer: Answer = { status: 0, ms: 0 };
    socket.once('connect', () => {
      begun = performance.now();
      socket.write(chatBytes(chat));
    });
    socket.once('data', (head: Buffer) => {
      answer = { status: Number(head.toString('latin1', 9, 12)), ms: performance.now() - begun };
    });
    socket.on('error', () => {});
    socket.resume();
    socket.once('close', () => resolve(answer));
  });
}

function chatBytes(body: object): string {
  const text = JSON.stringify(body);
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n';
  return `${head}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

interface Beside {
  readonly book: Book;
  readonly kind: string;
}

async function probe(probing: { readonly on: boolean }, { book, kind }: Beside): Promise<void> {
  while (probing.on) {
    book.measure(`health ${kind} ms`, await service.healthMs());
    // One who looks this often is no flood of its own.
    await delay(5);
  }
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
  socket.write(chatBytes({ ...chat, max_tokens: 1_500, stream: true }));
  return socket;
}
