/**
 * Readers that ask for long answers and read none of them, until every buffer on the way is full: others are answered as
 * before, and where there is time to see it (CAMPAIGN_MS), the stalled ones are cut at their limit and their slots are free.
 */
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HTTP_LIMITS } from '../../../src/server/http/limits.ts';
import { scenario } from '../campaign.ts';
import { fourSlots, PROMPT } from '../four-slots.ts';

const READERS = 2;
const TOKENS = 100;
const hasTime = Number(process.env['CAMPAIGN_MS'] ?? 0) > 2 * HTTP_LIMITS.stalledReaderMs;
/** Twice its limit, and a while for a machine that is busy. */
const CUT_WITHIN_MS = 2 * HTTP_LIMITS.stalledReaderMs + 15_000;
/** Many bytes for each token, so that a small window of tokens fills large buffers. */
const LONG = { logprobs: true, top_logprobs: 20, max_tokens: 4_000, ignore_eos: true, stream: true };

const campaign = fourSlots(TOKENS);

scenario('readers', async ({ seed, book }) => {
  const { service, whole } = campaign;
  const stalled = Array.from({ length: READERS }, () => stalledReader());
  await Promise.all(stalled.map(({ begun }) => begun));
  const streams = await Promise.all([1, 2].map(() => service.stream(PROMPT, TOKENS)));
  for (const { done, text, longestGapMs } of streams) {
    book.measure('gap of others ms', longestGapMs);
    if (!done || text !== whole) book.found(seed, 'a stream beside stalled readers is not whole');
  }
  book.measure('health ms', await service.healthMs());
  book.count('stalled readers', READERS);
  if (hasTime) {
    await Promise.race([waitUntilIdle(), delay(CUT_WITHIN_MS)]);
    const running = await openJobs();
    book.count('seen to the end');
    if (running > 0)
      book.found(seed, `${running} stalled readers hold their slots after ${CUT_WITHIN_MS} ms`);
  }
  for (const { socket } of stalled) socket.destroy();
  if (service.exited) book.found(seed, 'the server ended');
});

/** Takes the first bytes, and then nothing any more. */
function stalledReader(): { readonly socket: net.Socket; readonly begun: Promise<void> } {
  const socket = net.connect(Number(new URL(campaign.service.url).port), '127.0.0.1');
  socket.on('error', () => {});
  const body = JSON.stringify({
    model: 'tiny',
    messages: [{ role: 'user', content: PROMPT }],
    temperature: 0,
    ...LONG,
  });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const begun = new Promise<void>((resolve) => {
    socket.once('close', resolve);
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
  });
  return { socket, begun };
}

async function waitUntilIdle(): Promise<void> {
  while ((await openJobs()) > 0) await delay(1_000);
}

/** As the service counts its jobs. */
async function openJobs(): Promise<number> {
  const text = await (await fetch(`${campaign.service.url}/metrics`)).text();
  return Number(/^hearth_requests_processing (\d+)/m.exec(text)?.[1]);
}
