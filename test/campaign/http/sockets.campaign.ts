/**
 * Thousands of sockets that send next to nothing, beside a stream and a probe: the oldest of them give way, and nobody
 * else notices. CAMPAIGN_SOCKETS says how many; above some 15,000, both sides need a higher limit of open files.
 */
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { HTTP_LIMITS } from '../../../src/server/http/limits.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const SOCKETS = Number(process.env['CAMPAIGN_SOCKETS'] ?? 1_000);
const AT_ONCE = 250;
/** What the server may hold for each of those that it keeps. */
const MOST_KIB_EACH = 64;
const MOST_HEALTH_MS = 1_000;
const TRIES = 3;
const HEAD = 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n';
const STARTS = [
  '',
  'G',
  HEAD,
  `${HEAD}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"model"`,
];

let service: CampaignService;
beforeAll(async () => {
  service = await CampaignService.make();
  await service.start();
  await service.stream('forever', 4);
});
afterAll(() => service.remove());

scenario('sockets', async ({ seed, random, book }) => {
  const before = await residentKib();
  const sockets: net.Socket[] = [];
  const stream = service.stream('go on forever', 300);
  while (sockets.length < SOCKETS) {
    const some = Array.from({ length: Math.min(AT_ONCE, SOCKETS - sockets.length) }, () => slow(random));
    sockets.push(...(await Promise.all(some)));
    let healthMs = await service.healthMs();
    book.measure('health ms', healthMs);
    // A machine that is busy with other programs is late once; a service that is, each time.
    for (let tries = 1; tries < TRIES && healthMs > MOST_HEALTH_MS; tries += 1)
      healthMs = await service.healthMs();
    if (healthMs > MOST_HEALTH_MS) book.found(seed, `/health took ${Math.round(healthMs)} ms`);
  }
  book.count('sockets', sockets.length);
  const perSocket = ((await residentKib()) - before) / Math.min(SOCKETS, HTTP_LIMITS.maxSockets);
  book.measure('KiB for each socket', perSocket);
  if (SOCKETS >= HTTP_LIMITS.maxSockets && perSocket > MOST_KIB_EACH)
    book.found(seed, `the server holds ${Math.round(perSocket)} KiB for each slow socket`);
  const beside = await stream;
  if (!beside.done) book.found(seed, `the stream beside ${SOCKETS} sockets was answered ${beside.status}`);
  const after = await service.stream('tell a story', 8);
  if (!after.done) book.found(seed, `beside ${SOCKETS} sockets, a chat is answered ${after.status}`);
  for (const socket of sockets) socket.destroy();
  if (service.exited) book.found(seed, 'the server ended');
});

/** Resolves once it is connected, or has been turned away. */
function slow(random: Random): Promise<net.Socket> {
  return new Promise((resolve) => {
    const { port } = new URL(service.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    socket.on('error', () => resolve(socket));
    socket.once('connect', () => {
      socket.write(STARTS[random.below(STARTS.length)] ?? '');
      resolve(socket);
    });
  });
}

async function residentKib(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}
