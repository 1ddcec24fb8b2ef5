/**
 * The worst requests that are known, and how much of the event loop's time each takes at once: counted as work, so that
 * the test says the same on a busy machine. A turn of so much work takes some 10 ms; the aim is that none takes more
 * than 20.
 */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JSON_LIMITS } from '../../../src/lib/json/json-scan.ts';
import { runGate } from '../../../src/lib/gguf/run-gate.ts';
import { texts as textArray } from '../../../tools/gguf/metadata.ts';
import { writeGguf } from '../../../tools/gguf/writer.ts';
import { tinyChatContent } from '../../../tools/models/tiny-chat.ts';
import { type ScriptedService, startScripted } from '../../support/http/scripted-service.ts';
import { exchange } from '../../support/http/raw-exchange.ts';
import { namesItself, properties, ways } from '../../support/schema-bombs.ts';
import { WorkMeter } from '../../support/work-meter.ts';

const MOST_BLOCKS = 1_500_000;
const LARGEST_BODY = 8 * 1024 * 1024;
/** Bodies are read and answers written in slices. */
const MOST_JSON_READ = 1_000_000;
const MOST_JSON_WRITTEN = 1_000_000;
/** As much as fits beside the rest of a request. */
const LARGEST_TEXT = LARGEST_BODY - 1_000;
/** Where more of the same would only be more turns. */
const LONG_TEXT = 2 ** 20;
/** What is left on this thread of reading a large header in another. */
const A_HEADER_ELSEWHERE = 20_000;
const MANY = JSON_LIMITS.tokens - 1_000;

const meter = new WorkMeter();
let service: ScriptedService;
beforeAll(async () => {
  service = await startScripted();
  service.engine.checksJobs = false;
  meter.start();
});
afterAll(async () => {
  await service?.close();
  meter.stop();
});

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const named = <T>(count: number, make: (at: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, (at) => [`p${at}`, make(at)]));

const CHAT = '/v1/chat/completions';
const user = (content: unknown) => [{ role: 'user', content }];
const chat = (more: object) => ({ model: 'tiny-chat', messages: user('Hi'), max_tokens: 4, ...more });
const shaped = (schema: object) =>
  chat({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } });
const tool = (at: number) => ({
  type: 'function',
  function: {
    name: `t${at}`,
    parameters: {
      type: 'object',
      properties: named(12, () => ({ type: 'string', description: 'd'.repeat(50) })),
    },
  },
});

type Asked = readonly [name: string, status: number, path: string, body: () => unknown];

const texts: readonly Asked[] = [
  ['one long text', 200, CHAT, () => chat({ messages: user('y'.repeat(LARGEST_TEXT)) })],
  ['one text of escapes', 200, CHAT, () => chat({ messages: user('\n'.repeat(LONG_TEXT)) })],
  [
    'a system prompt of times of day',
    200,
    CHAT,
    () => ({
      ...chat({}),
      messages: [{ role: 'system', content: 'y 12:34:56\n'.repeat(LONG_TEXT / 12) }, ...user('Hi')],
    }),
  ],
  [
    'a text of many parts',
    200,
    CHAT,
    () => chat({ messages: user(many(MANY / 3 - 10, () => ({ type: 'text', text: 'a' }))) }),
  ],
  [
    'a prompt of tokens',
    200,
    '/v1/completions',
    () => ({ model: 'tiny-chat', prompt: many(MANY, (at) => at % 100) }),
  ],
  ['many messages', 200, CHAT, () => chat({ messages: many(4_096, () => user('a')[0]) })],
  [
    'many messages of agents',
    200,
    '/v1/messages',
    () => ({
      model: 'tiny-chat',
      max_tokens: 4,
      messages: many(4_096, (at) => ({ role: at % 2 === 1 ? 'assistant' : 'user', content: 'a' })),
    }),
  ],
  [
    'many items of a response',
    200,
    '/v1/responses',
    () => ({ model: 'tiny-chat', input: many(4_096, () => user('a')[0]) }),
  ],
];
const schemas: readonly Asked[] = [
  ['a schema of 1,900 properties', 500, CHAT, () => shaped(properties(1_900))],
  ['a schema of 600 ways', 500, CHAT, () => shaped(ways(600))],
  ['a schema of many values', 400, CHAT, () => shaped({ enum: many(MANY, (at) => at) })],
  ['a schema that names itself', 500, CHAT, () => shaped(namesItself)],
  ['128 tools', 200, CHAT, () => chat({ tools: many(128, tool) })],
  [
    'a grammar of many ways',
    200,
    CHAT,
    () => chat({ grammar: `root ::= ${many(10_000, () => '"a"').join(' | ')}` }),
  ],
];
const refused: readonly Asked[] = [
  ['a member of many values', 200, CHAT, () => chat({ x: many(MANY, () => 1) })],
  ['many members', 200, CHAT, () => chat(named(MANY, () => 1))],
  [
    'long keys',
    200,
    CHAT,
    () => chat(Object.fromEntries(many(900, (at) => [`${'k'.repeat(9_000)}${at}`, 1]))),
  ],
  [
    'a bias for every token',
    400,
    CHAT,
    () => chat({ logit_bias: Object.fromEntries(many(MANY, (at) => [at, 1])) }),
  ],
  ['many stops', 400, CHAT, () => chat({ stop: many(MANY, String) })],
  [
    'too many tools',
    400,
    CHAT,
    () => chat({ tools: many(20_000, (at) => ({ type: 'function', function: { name: `t${at}` } })) }),
  ],
  [
    'a text that is too long',
    400,
    '/v1/tokenize',
    () => ({ model: 'tiny-chat', content: 'a '.repeat(LARGEST_TEXT / 2) }),
  ],
  [
    'too many documents',
    400,
    '/v1/rerank',
    () => ({ model: 'tiny-embed', query: 'q', documents: many(90_000, () => 'a') }),
  ],
];
const vectors: readonly Asked[] = [
  [
    '512 vectors',
    200,
    '/v1/embeddings',
    () => ({ model: 'tiny-embed', input: many(512, () => 'word '.repeat(80)) }),
  ],
  [
    '512 vectors in base64',
    200,
    '/v1/embeddings',
    () => ({ model: 'tiny-embed', input: many(512, String), encoding_format: 'base64' }),
  ],
];

describe('no turn of the event loop does more than its share for', () => {
  it.each([...texts, ...schemas, ...refused, ...vectors])('%s (%i)', async (_, status, path, body) => {
    const text = JSON.stringify(body());
    expect(text.length).toBeLessThanOrEqual(LARGEST_BODY);
    let answered = '';
    const work = await meter.most(async () => {
      const reply = await fetch(service.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
      });
      answered = `${reply.status} ${(await reply.text()).slice(0, 200)}`;
    });
    expect(answered).toMatch(new RegExp(`^${status} `));
    expect(work.blocks, work.where).toBeLessThan(MOST_BLOCKS);
    expect(work.jsonRead).toBeLessThan(MOST_JSON_READ);
    expect(work.jsonWritten).toBeLessThan(MOST_JSON_WRITTEN);
  });

  it('the header of a file with a large vocabulary', async () => {
    const file = path.join(service.home, 'vocabulary.gguf');
    const tokens = textArray(many(262_144, (at) => `token ${at}`));
    await writeGguf(file, {
      metadata: { ...tinyChatContent().metadata, 'tokenizer.ggml.tokens': tokens },
      tensors: [],
    });
    let verdict = '';
    const work = await meter.most(async () => {
      verdict = await runGate('inspectGguf', file).then(() => 'accepted', String);
    });
    // The whole header was read.
    expect(verdict).toContain('tensors');
    expect(work.blocks, work.where).toBeLessThan(A_HEADER_ELSEWHERE);
  });

  it('many requests that come at once on one socket', async () => {
    const ask = (path: string, last = false): string =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    const asked = many(20, (at) =>
      ask(['/v1/models', '/openapi.json', '/metrics', '/v1/identity'][at % 4] ?? ''),
    );
    let answers = 0;
    const work = await meter.most(async () => {
      answers = (await exchange(service.port, [asked.join('') + ask('/health', true)])).answers.length;
    });
    expect(answers).toBe(21);
    expect(work.blocks, work.where).toBeLessThan(MOST_BLOCKS);
  });
});
