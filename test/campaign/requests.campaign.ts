/** Random bytes and random JSON at every route: an honest answer or a closed socket, never a 500, and the service lives. */
import net from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { type Route, routes } from '../../src/wire/routes.ts';
import type { Random } from '../../tools/gguf/random.ts';
import { type Book, pick, scenario } from './campaign.ts';
import { CampaignService } from './service.ts';

/** What a hostile body may be answered; a 500 never. */
const HONEST = new Set([
  200, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 429, 431, 501, 503, 505,
]);
const ODD: readonly unknown[] = [
  null,
  true,
  '',
  [],
  {},
  0,
  -0,
  -1,
  0.5,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  5e-324,
  1e-300,
  '\ud800',
  '\u0000',
  'NaN',
  '../..',
  'x'.repeat(3000),
  '__proto__',
  '{{7*7}}',
  '<|im_end|>',
  [[[[[]]]]],
  { a: { b: [null] } },
];
const tool = { type: 'function', function: { name: 't', parameters: { type: 'object', properties: {} } } };
const messages = [{ role: 'user', content: 'Hi' }];
const GOOD: Readonly<Record<string, readonly object[]>> = {
  '/v1/chat/completions': [
    { model: 'tiny', messages, max_tokens: 2, temperature: 0.5, stop: ['a'], seed: 1, top_p: 0.9 },
    { model: 'tiny', messages, max_tokens: 2, stream: true, stream_options: { include_usage: true }, n: 2 },
    { model: 'tiny', messages, max_tokens: 2, tools: [tool], tool_choice: 'auto', logit_bias: { 5: 1 } },
    {
      model: 'tiny',
      messages,
      max_tokens: 2,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'x',
          schema: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] },
        },
      },
    },
    {
      model: 'tiny',
      messages,
      max_tokens: 2,
      repeat_penalty: 1.1,
      min_p: 0.1,
      logprobs: true,
      top_logprobs: 2,
    },
  ],
  '/v1/completions': [{ model: 'tiny', prompt: ['x'], max_tokens: 2, echo: true, logprobs: 1 }],
  '/v1/messages': [{ model: 'tiny', messages, max_tokens: 2, system: 's', stop_sequences: ['a'] }],
  '/v1/responses': [{ model: 'tiny', input: 'Hi', max_output_tokens: 16, store: true }],
  '/v1/embeddings': [{ model: 'embed', input: ['a', 'b'], encoding_format: 'base64', dimensions: 8 }],
  '/v1/rerank': [{ model: 'embed', query: 'q', documents: ['a', 'b'], top_n: 1 }],
  '/v1/tokenize': [{ model: 'tiny', content: 'abc' }],
  '/svc/unload': [{ model: 'tiny' }],
};
const FRAGMENTS = [
  'GET / HTTP/1.1\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\n',
  'GET /health HTTP/1.0\r\n',
  'PRI * HTTP/2.0\r\n',
  'Host: 127.0.0.1\r\n',
  'Host: evil\r\n',
  'Host : 127.0.0.1\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 5, 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Type: application/json\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  '\r\n',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  '{"model":',
  '\u0000\u0001',
  `X: ${'y'.repeat(20_000)}\r\n`,
  '\n\n',
  'FFFFFFFFFFFFFFFFF\r\n',
];
const ROUTES: readonly Route[] = Object.values(routes);

let service: CampaignService;
beforeAll(async () => {
  service = await CampaignService.make();
  await service.start();
});
afterAll(() => service.remove());

scenario('requests', async (round) => {
  const { random, book, seed } = round;
  // Several at a time: the machine is mostly waiting.
  const plays = Array.from({ length: 8 }, () =>
    random.below(4) === 0 ? framing(random, book) : json(random, book),
  );
  for (const problem of await Promise.all(plays)) if (problem !== null) book.found(seed, problem);
  if (service.exited) return book.found(seed, 'the server ended');
  book.measure('health ms', await service.healthMs());
});

async function json(random: Random, book: Book): Promise<string | null> {
  const path = pick(random, Object.keys(GOOD));
  let body: unknown = pick(random, GOOD[path] ?? [{}]);
  const changes = random.below(4);
  for (let left = changes; left > 0; left -= 1) body = changed(body, random);
  const text =
    random.below(30) === 0 ? JSON.stringify(body).slice(0, -1 - random.below(5)) : JSON.stringify(body);
  const { status, answer } = await ask(path, text);
  book.count('JSON requests');
  book.count(`status ${status}`);
  const isHonest = HONEST.has(status) && (status < 400 || answer.includes('"'));
  return isHonest ? null : `${status} for POST ${path} ${text.slice(0, 600)}: ${answer.slice(0, 200)}`;
}

async function ask(path: string, text: string): Promise<{ status: number; answer: string }> {
  try {
    const reply = await service.post(path, text);
    return { status: reply.status, answer: await reply.text() };
  } catch (error) {
    return { status: 0, answer: String((error as Error).cause ?? error) };
  }
}

function changed(body: unknown, random: Random): unknown {
  if (typeof body !== 'object' || body === null) return pick(random, ODD);
  const keys = Object.keys(body);
  const key = keys[random.below(Math.max(1, keys.length))];
  const copy = (Array.isArray(body) ? [...body] : { ...body }) as Record<string, unknown>;
  const how = random.below(5);
  if (key === undefined || how === 0) copy[`extra${keys.length}`] = pick(random, ODD);
  else if (how === 1 && !Array.isArray(body)) delete copy[key];
  else if (how === 2) copy[key] = pick(random, ODD);
  else copy[key] = changed(copy[key], random);
  return copy;
}

async function framing(random: Random, book: Book): Promise<string | null> {
  const route = pick(random, ROUTES);
  const start = random.below(2) === 0 ? `${route.method} ${route.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n` : '';
  const parts = Array.from({ length: 1 + random.below(6) }, () => pick(random, FRAGMENTS));
  const bytes = Buffer.from(start + parts.join(''), 'latin1');
  for (let left = random.below(3); left > 0; left -= 1) bytes[random.below(bytes.length)] = random.below(256);
  const said = await raw(bytes);
  book.count('raw requests');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(said)?.[1];
  return status === undefined || HONEST.has(Number(status)) || status === '100' || status === '302'
    ? null
    : `${said.slice(0, 200)} for ${JSON.stringify(bytes.toString('latin1').slice(0, 400))}`;
}

/** What comes back until the other side closes, or this one has waited long enough and goes. */
function raw(bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const { port } = new URL(service.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    let said = '';
    const end = (): void => {
      socket.destroy();
      resolve(said);
    };
    socket.on('data', (part) => (said += part.toString('latin1')));
    socket.once('error', end).once('close', end);
    socket.end(bytes);
    setTimeout(end, 2_000).unref();
  });
}
