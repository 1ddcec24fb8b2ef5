/**
 * An upstream that answers as badly as the seed says, to chats, embeddings and the looks at its load, while /health and
 * chats of a local model go on. What it may not do is end the server, hold it up, or be taken for a good answer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { EngineStore } from '../../../src/store/engines/engine-store.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { knownModel } from '../../support/upstream/service.ts';
import { pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const MIB = 2 ** 20;
const TOKENS = 40;
const PROMPT = 'Tell me a tale.';
/** Far above what a busy machine needs, and far below what one answer that is read at once would take. */
const HELD_UP_MS = 5_000;
const ASKED = 4;
const VECTORS = 64;

const many = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length));
const list = (item: string, bytes: number): string => `[${many(`${item},`, bytes)}${item}]`;
const frame = (data: string): string => `data: ${data}\n\n`;
const delta = (inner: string): string => frame(`{"choices":[{"index":0,"delta":${inner}}]}`);

/** JSON that is a poor answer to anything. */
const BODIES: readonly ((bytes: number) => string)[] = [
  (bytes) => many('[', bytes),
  (bytes) => `{"data":${list('{}', bytes)}}`,
  (bytes) => `{"data":[{"embedding":${list('0.5', bytes)}}]}`,
  (bytes) => `{"data":${list('{"__proto__":{"x":1},"id":"m"}', bytes)}}`,
  (bytes) => `{"data":"${many('\\u0001', bytes)}"}`,
  (bytes) => `{${many('"k":1,', bytes)}"k":1}`,
  (bytes) => many(' ', bytes),
  () => '{"data":{"length":9007199254740991},"choices":7,"usage":[]}',
  () => 'null',
  () => '',
];
const STREAMS: readonly ((bytes: number) => string)[] = [
  ...BODIES.map((body) => (bytes: number) => frame(body(bytes))),
  (bytes) => many('\n', bytes) + many('\r', bytes),
  (bytes) => many('data: x\n', bytes),
  (bytes) => many(delta(`{"content":"${many('x', 2_000)}"}`), 8 * bytes),
  (bytes) => delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"${many('[', bytes)}"}}]}`),
  (bytes) => delta(`{"tool_calls":${list('{"index":0,"function":{"name":"f","arguments":"1"}}', bytes)}}`),
  () => delta('{"content":{"toString":1}}') + delta('{"content":[]}'),
  () => frame('{"error":{"code":1e308,"message":{}}}'),
  () => 'data: {"choices":[{"delta":{"content":"cut',
];
const PAGES: readonly ((bytes: number) => string)[] = [
  (bytes) => `vllm:num_requests_waiting{${many('a', bytes)}} 1`,
  (bytes) => many(`vllm:num_requests_waiting{a="${many('\\"', 400)}} 1\n`, bytes),
  (bytes) => many('vllm:num_requests_running 1\n', bytes),
  (bytes) => many('\n', bytes),
];
const SIZES = [1_000, 60_000, MIB / 2, MIB, 8 * MIB, 32 * MIB];

let random: Random;
let local = '';
const upstream = createServer((request, response) => void answer(request, response));
let service: CampaignService;

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  service = await CampaignService.make();
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  await new EngineStore(openRegistry({ home: service.home }).store).put({
    schema: 1,
    type: 'upstream',
    name: 'box',
    baseUrl,
    dialect: 'vllm',
    privacy: 'local',
    aliases: {},
    deadlines: { firstByteMs: 2_000, stallMs: 2_000, wholeMs: 20_000 },
    known: [knownModel('m'), knownModel('embed-m')],
    addedAt: '2026-01-01T00:00:00Z',
  });
  await service.start();
  ({ text: local } = await service.stream(PROMPT, TOKENS));
}, 60_000);

afterAll(async () => {
  await service.remove();
  upstream.closeAllConnections();
  upstream.close();
});

/** One bad answer, as a whole, in pieces that come slowly, or without an end. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => {});
  request.resume();
  const isLook = request.url === '/metrics' || request.method === 'GET';
  if (request.url === '/v1/models' && random.below(4) > 0)
    return void response.end('{"data":[{"id":"m"},{"id":"embed-m"}]}');
  if (request.url === '/health') return void response.end();
  const isStream = request.url?.endsWith('/completions') === true;
  const kinds = isStream ? STREAMS : request.url === '/metrics' ? PAGES : BODIES;
  const text = pick(random, kinds)(pick(random, isLook ? SIZES.slice(0, 4) : SIZES));
  response.writeHead(random.below(8) === 0 ? 400 : 200, {
    'content-type': isStream ? 'text/event-stream' : 'application/json',
  });
  const way = random.below(4);
  if (way > 0) response.write(text);
  else for (let at = 0; at < Math.min(text.length, 2_000); at += 1) response.write(text[at]);
  if (way !== 1) response.end();
}

scenario('upstream', async ({ seed, random: drawn, book }) => {
  random = drawn;
  const over = new AbortController();
  const asked = Array.from({ length: ASKED }, (_, at) => ask(at % 2 === 0, seed)).map(async (each) => {
    const { status, code } = await each;
    book.count(`answered ${status}`);
    if (status === 500) book.found(seed, `an answer of the upstream is ${code} here`);
  });
  const beside = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const stream = await service.stream(PROMPT, TOKENS);
      if (!stream.done || stream.text !== local) book.found(seed, 'a local chat beside it is not whole');
      book.count('local chats');
    }
  };
  const health = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const ms = await service.healthMs();
      book.measure('health ms', ms);
      if (ms > HELD_UP_MS) book.found(seed, `/health took ${Math.round(ms)} ms`);
    }
  };
  const others = [beside(), health()];
  await Promise.all(asked).finally(() => over.abort());
  await Promise.all(others);
  book.measure('loop lag ms', await service.loopLagMs());
  if (service.exited) book.found(seed, 'the server ended');
});

async function ask(isChat: boolean, seed: number): Promise<{ status: number; code: string }> {
  const reply = isChat
    ? await service.post('/v1/chat/completions', {
        model: 'box/m',
        messages: [{ role: 'user', content: String(seed) }],
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      })
    : await service.post('/v1/embeddings', {
        model: 'box/embed-m',
        input: Array.from({ length: VECTORS }, String),
      });
  const { code = '' } = (await reply.json()) as { code?: string };
  return { status: reply.status, code };
}
