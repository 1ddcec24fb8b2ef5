/**
 * Answers of an upstream that would be much work if they were read at once: counted as work of one turn of the event
 * loop, as in test/fault/http/loop-work.test.ts. All of it runs in this process, the upstream too.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEFAULT_DEADLINES } from '../../src/server/engine/upstream/limits.ts';
import { Connections } from '../../src/server/engine/upstream/http/connections.ts';
import { createProbe } from '../../src/server/engine/upstream/look/probe.ts';
import type { Dialect, Upstream } from '../../src/server/engine/upstream/ports.ts';
import { systemClock } from '../../src/lib/base/clock.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';
import { type EngineService, startEngines } from '../support/upstream/service.ts';
import { WorkMeter } from '../support/work-meter.ts';

const MOST_BLOCKS = 1_500_000;
const MOST_JSON = 100_000;
const MIB = 2 ** 20;

let upstream: ScriptedUpstream;
let engines: EngineService;
const MODELS = ['script', 'embed-768'];
const connections = new Connections();
const probe = createProbe({ clock: systemClock, connections, userAgent: 'hearth/test' });
const meter = new WorkMeter();

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = MODELS;
  engines = await startEngines({});
  await engines.add({ name: 'box', baseUrl: `${upstream.url}/v1` }, MODELS);
  meter.start();
});

afterAll(async () => {
  meter.stop();
  connections.close();
  await engines.close();
  await upstream.close();
});

const many = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length));
const list = (item: string, bytes: number): string => `[${many(`${item},`, bytes)}${item}]`;
const events = (...data: string[]): string => data.map((each) => `data: ${each}\n\n`).join('');
const says = (delta: string, finish = 'null'): string =>
  `{"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`;
const calls = (json: string): string =>
  says(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":${JSON.stringify(json)}}}]}`);
const END = events(says('{}', '"stop"'), '[DONE]');
const VECTOR = `{"embedding":[${Array.from({ length: 768 }, (_, at) => Math.sin(at)).join(',')}]}`;
const INPUTS = 256;

const embeddings: readonly (readonly [name: string, code: string | null, body: () => string])[] = [
  ['vectors', null, () => `{"data":[${Array.from({ length: INPUTS }, () => VECTOR).join(',')}]}`],
  ['objects', 'upstream_broken', () => `{"data":${list('{}', 8 * MIB)}}`],
  ['vectors of too many numbers', 'upstream_broken', () => `{"data":${list('0.5', 8 * MIB)}}`],
  ['levels', 'upstream_broken', () => many('[', 4 * MIB)],
  ['one long text', 'upstream_broken', () => `{"data":"${many('\\u0001', 4 * MIB)}"}`],
  ['bytes', 'upstream_broken', () => many(' ', 128 * MIB)],
];

const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const streams: readonly (readonly [name: string, code: string | null, body: () => string])[] = [
  ['a long text', null, () => events(says(`{"content":"${many('x', MIB / 2)}"}`)) + END],
  ['short events at once', null, () => many(events(says('{"content":"x"}')), MIB) + END],
  ['a long call', null, () => events(calls(`{"a":"${many('x', MOST_JSON - 100)}"}`)) + END],
  ['an event of levels', 'upstream_broken', () => events(many('[', MIB - 100)) + END],
  ['events of levels', 'upstream_broken', () => many(events(many('[', 7_000)), MIB) + END],
  ['an event of objects', 'upstream_broken', () => events(list('{}', MIB - 100)) + END],
  ['a call of levels', 'upstream_broken', () => events(calls(many('[', MIB / 2))) + END],
  ['a call of values', 'upstream_broken', () => events(calls(list('0', MIB / 2))) + END],
  [
    'an endless text',
    'upstream_broken',
    // One that repeats itself would be ended as such.
    () =>
      Array.from({ length: 6 * 1_024 }, () =>
        events(says(`{"content":"${randomBytes(500).toString('hex')}"}`)),
      ).join(''),
  ],
  ['an error of levels', 'upstream_failed', () => events(`{"error":${many('[', 3_000)}${many(']', 3_000)}}`)],
];

describe('no turn of the event loop does more than its share for an upstream that answers with', () => {
  it.each(embeddings)('embeddings: %s', async (_, code, body) => {
    upstream.pages = { '/v1/embeddings': body() };
    const input = Array.from({ length: INPUTS }, String);
    await holds(code, () => post('/v1/embeddings', { model: 'box/embed-768', input }));
  });

  it.each(streams)('a stream: %s', async (_, code, body) => {
    upstream.script = body();
    const messages = [{ role: 'user', content: 'Go.' }];
    await holds(code, () => post('/v1/chat/completions', { model: 'box/script', messages, tools: [TOOL] }));
  });

  it.each([
    ['LF before CR', '\n', '\r'],
    ['CR before LF', '\r', '\n'],
  ])('a stream: ends of lines, %s', async (_, near, far) => {
    upstream.script = `${events(says('{"content":"x"}'))}${many(near, MIB)}${many(far, MIB / 16)}${END}`;
    // Searching is no block of code, so it is counted here.
    const { indexOf } = String.prototype;
    let searched = 0;
    const search = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (
      this: string,
      wanted,
      from = 0,
    ) {
      const found = indexOf.call(this, wanted, from);
      searched += Math.max(0, (found === -1 ? this.length : found) - from);
      return found;
    });
    const messages = [{ role: 'user', content: 'Go.' }];
    const answer = await post('/v1/chat/completions', { model: 'box/script', messages }).finally(() =>
      search.mockRestore(),
    );
    expect(JSON.parse(answer)).toMatchObject({ choices: [{ message: { content: 'x' } }] });
    expect(searched).toBeGreaterThan(MIB);
    expect(searched).toBeLessThan(MIB * 1_024);
  });

  it.each([
    ['objects', () => `{"data":${list('{}', 3 * MIB)}}`],
    ['levels', () => many('[', 3 * MIB)],
    ['names', () => `{"data":${list('{"id":"m"}', 3 * MIB)}}`],
  ])('a list of models: %s', async (_, body) => {
    upstream.pages = { '/v1/models': body() };
    await holds(null, () => probe.models(as('openai'), new AbortController().signal).catch(() => []));
  });

  const waiting = 'vllm:num_requests_waiting';
  it.each([
    ['a label without an end', () => `${waiting}{${many('a', MIB - 100)}} 1`, null],
    ['a short label without an end', () => many(`${waiting}{${many('a', 4_000)}} 1\n`, MIB - 5_000), null],
    ['a label of quotes', () => many(`${waiting}{a="${many('\\"', 4_000)}} 1\n`, MIB - 5_000), null],
    ['blanks', () => many(`${waiting}${many(' ', 4_000)}x y\n`, MIB - 5_000), null],
    ['lines', () => `${many('\n', MIB - 100)}${waiting} 3`, 3],
    ['samples', () => many(`${waiting} 1\n`, MIB - 100), 1_000],
  ])('a page of metrics: %s', async (_, page, value) => {
    upstream.pages = { '/metrics': page() };
    const found = await holds(null, () => probe.look(as('vllm'), new AbortController().signal));
    expect(found).toMatchObject({ load: { waiting: value } });
  });
});

/** The body of the answer as text: reading it would be work of this process. */
async function post(path: string, body: object): Promise<string> {
  const reply = await fetch(engines.service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return reply.text();
}

/** Asks, and gives what came of it. */
async function holds<T>(code: string | null, ask: () => Promise<T>): Promise<T | undefined> {
  let answer: T | undefined;
  const work = await meter.most(async () => {
    answer = await ask();
  });
  if (typeof answer === 'string') expect(JSON.parse(answer).code ?? null).toBe(code);
  expect(work.blocks, work.where).toBeLessThan(MOST_BLOCKS);
  expect(work.jsonRead).toBeLessThan(MOST_JSON);
  return answer;
}

const as = (dialect: Dialect): Upstream => ({
  name: 'box',
  baseUrl: `${upstream.url}/v1`,
  dialect,
  privacy: 'local',
  key: async () => null,
  ca: async () => null,
  publicKey: null,
  deadlines: DEFAULT_DEADLINES,
  maxCalls: 4,
});
