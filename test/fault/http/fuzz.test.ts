/**
 * Random requests, seeded: broken bytes and broken JSON. Whatever comes, the service lives, answers 4xx or 200 with a
 * proper body, and gives the engine only jobs that its schema allows. SVC_LONG_TESTS=1 runs a hundred thousand.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hello } from '../../support/http/http-client.ts';
import { exchange } from '../../support/http/raw-exchange.ts';
import { checkAnswer } from '../../support/http/schema-check.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const service = scriptedService({ maxBodyBytes: 256 * 1024 });
const isLong = process.env['SVC_LONG_TESTS'] === '1';
const runs = { numRuns: isLong ? 50_000 : 1_000, seed: 20_260_117, endOnFailure: !isLong };
const timeoutMs = isLong ? 3_600_000 : 180_000;
const width = 8;

const tool = { type: 'function', function: { name: 't', parameters: { type: 'object', properties: {} } } };
const bodies: readonly (readonly [string, object])[] = [
  ['/v1/chat/completions', { ...hello, temperature: 0.5, max_tokens: 3, stop: ['a'], seed: 1 }],
  ['/v1/chat/completions', { ...hello, stream: true, stream_options: { include_usage: true }, n: 2 }],
  ['/v1/chat/completions', { ...hello, tools: [tool], tool_choice: 'auto', logit_bias: { 5: 1 } }],
  ['/v1/chat/completions', { ...hello, response_format: { type: 'text' }, logprobs: true }],
  ['/v1/completions', { model: 'default', prompt: ['x'], top_k: 1, repeat_penalty: 1, keep_alive: '1m' }],
  ['/v1/embeddings', { model: 'default-embedding', input: ['a', 'b'], encoding_format: 'base64' }],
  ['/v1/messages', { ...hello, max_tokens: 5, system: [{ type: 'text', text: 's' }], stop_sequences: ['a'] }],
  [
    '/v1/messages',
    { ...hello, max_tokens: 5, stream: true, thinking: { type: 'enabled', budget_tokens: 2 } },
  ],
  ['/v1/messages', blocks()],
  ['/v1/messages/count_tokens', { ...hello, system: 's', tools: [{ name: 't', input_schema: {} }] }],
  ['/v1/responses', { model: 'default', input: 'Hi', store: false, max_output_tokens: 5, instructions: 'i' }],
  [
    '/v1/responses',
    { model: 'default', input: items(), store: false, stream: true, reasoning: { effort: 'low' } },
  ],
  [
    '/v1/responses',
    { model: 'default', input: items(), store: false, tools: responseTools(), text: { format: null } },
  ],
  [
    '/v1/responses',
    { model: 'default', input: 'Hi', store: false, tools: [{ type: 'function', name: 't' }] },
  ],
  ['/v1/messages', { ...hello, max_tokens: 5, tools: [{ type: 'custom', name: 't', input_schema: {} }] }],
  ['/v1/responses/input_tokens', { model: 'default', input: items(), tools: responseTools() }],
  ['/v1/rerank', { model: 'default-embedding', query: 'q', documents: ['a', { text: 'b' }], top_n: 1 }],
  [
    '/v1/decisions',
    {
      model: 'default',
      input: 'x',
      questions: [{ type: 'choice', instructions: 'y', choices: [{ value: 'a' }, { value: true }] }],
    },
  ],
  ['/v1/tokenize', { model: 'default', content: 'abc', add_special: true, with_pieces: true }],
  ['/v1/detokenize', { model: 'default', tokens: [1, 2] }],
  ['/svc/unload', { model: 'default' }],
];

/** A conversation of Messages with every kind of block. */
function blocks(): object {
  const call = { type: 'tool_use', id: 'a', name: 't', input: { x: [1] } };
  const result = {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [{ type: 'text', text: 'r' }],
    is_error: true,
  };
  return {
    model: 'default',
    max_tokens: 5,
    tools: [{ name: 't', description: 'd', input_schema: { type: 'object', properties: {} } }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'text', data: 'd' } }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'h', signature: 's' }, call] },
      {
        role: 'user',
        content: [result, { type: 'text', text: 'go on', cache_control: { type: 'ephemeral' } }],
      },
    ],
  };
}

/** A conversation of Responses with every kind of item. */
function items(): object[] {
  return [
    { role: 'developer', content: 'd' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    { type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: 'h' }] },
    { type: 'function_call', call_id: 'a', name: 't', arguments: '{"x":1}' },
    { type: 'function_call_output', call_id: 'a', output: 'r' },
    { type: 'custom_tool_call', call_id: 'b', name: 'p', input: 'text' },
    { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'r' }] },
  ];
}

function responseTools(): object[] {
  return [
    { type: 'function', name: 't', parameters: { type: 'object', properties: {} }, strict: true },
    { type: 'custom', name: 'p', format: { type: 'text' } },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'u', parameters: {} }] },
    { type: 'web_search' },
  ];
}

/** Values that parsers and range checks trip over. */
const oddity = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', [], {}, 0, -0, -1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 5e-324),
  fc.constantFrom<unknown>('\ud800', '\u0000', 'NaN', '../..', 'x'.repeat(5000), '__proto__', '{{7*7}}'),
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

interface Change {
  /** Where, as fractions that choose a member on each level. */
  readonly steps: readonly number[];
  readonly value: unknown;
  readonly how: 'replace' | 'remove' | 'add';
}

const change: fc.Arbitrary<Change> = fc.record({
  steps: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 4 }),
  value: oddity,
  how: fc.constantFrom('replace', 'remove', 'add'),
});

function changed(body: unknown, { steps, value, how }: Change): unknown {
  const [step = 0, ...rest] = steps;
  if (typeof body !== 'object' || body === null) return value;
  const keys = Object.keys(body);
  const key = keys[Math.floor(step * keys.length)];
  const copy = (Array.isArray(body) ? [...body] : { ...body }) as Record<string, unknown>;
  if (key === undefined || (how === 'add' && rest.length === 0)) copy[`extra${keys.length}`] = value;
  else if (rest.length > 0) copy[key] = changed(copy[key], { steps: rest, value, how });
  else if (how === 'remove') delete copy[key];
  else copy[key] = value;
  return copy;
}

/** Every body with one member less, or with one member that is something else. */
function* nearMisses(body: unknown): Generator {
  if (typeof body !== 'object' || body === null) return;
  for (const key of Object.keys(body)) {
    const put = (value: unknown) =>
      Array.isArray(body) ? body.with(Number(key), value) : { ...body, [key]: value };
    const inner = (body as Readonly<Record<string, unknown>>)[key];
    if (!Array.isArray(body)) yield Object.fromEntries(Object.entries(body).filter(([name]) => name !== key));
    for (const other of [null, 5, 'x', {}, [{}], [null]]) yield put(other);
    for (const each of nearMisses(inner)) yield put(each);
  }
}

/** How each dialect ends a stream that was not cut short. */
const STREAM_ENDS =
  /(data: \[DONE\]|"type":"message_stop".*|"type":"response\.(completed|incomplete)".*)\n\n$/;

/** One status, and a body that the strict client accepts. */
async function status(path: string, body: object): Promise<number> {
  const isStream = (body as { stream?: unknown }).stream === true;
  if (!isStream) return (await service.client.post(path, body)).status;
  const response = await fetch(new URL(path, service.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const whole = await response.text();
  if (response.status === 200) expect(whole).toMatch(STREAM_ENDS);
  else checkAnswer('POST', path, response.status, JSON.parse(whole));
  return response.status;
}

describe('a request with one member less or another one', () => {
  it.each(bodies.map(([path, body], index) => [path, index, body] as const))(
    'of %s (%i) is answered or refused in words about what was sent',
    async (path, _, body) => {
      for (const near of nearMisses({ ...body, stream: false })) {
        const { status: code, headers } = await service.client.post(path, near);
        expect([200, 400, 404]).toContain(code);
        expect(JSON.stringify(headers)).not.toMatch(/undefined|\[object/);
      }
      expect(service.log()).not.toContain('by a bug');
    },
    timeoutMs,
  );
});

describe('requests at random', () => {
  it(
    'with odd values anywhere are answered, refused by name, or not found',
    async () => {
      const property = fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...bodies), fc.array(change, { minLength: 1, maxLength: 3 })), {
          minLength: width,
          maxLength: width,
        }),
        async (batch) => {
          const statuses = await Promise.all(
            batch.map(async ([[path, body], changes]) => {
              const odd = changes.reduce<unknown>(changed, body);
              return typeof odd === 'object' && odd !== null ? status(path, odd) : 400;
            }),
          );
          for (const each of statuses) expect([200, 400, 404]).toContain(each);
          expect(service.engine.invalidJobs).toEqual([]);
        },
      );
      await fc.assert(property, { ...runs, numRuns: runs.numRuns / width });
      expect(service.log()).not.toContain('by a bug');
    },
    timeoutMs,
  );

  it(
    'with broken bytes are refused, answered or cut, and nothing hangs',
    async () => {
      const whole = bodies.map(([path, body]) => {
        const text = JSON.stringify(body);
        return Buffer.from(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
        );
      });
      const splice = fc.record({
        at: fc.double({ min: 0, max: 0.999, noNaN: true }),
        cut: fc.nat({ max: 6 }),
        bytes: fc.oneof(
          fc.uint8Array({ maxLength: 6 }),
          fc
            .constantFrom('\r\n', '\0', 'Content-Length: 1\r\n', 'Transfer-Encoding: chunked\r\n', '"', '{')
            .map((text) => Uint8Array.from(Buffer.from(text, 'latin1'))),
        ),
      });
      const property = fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...whole), fc.array(splice, { minLength: 1, maxLength: 4 })), {
          minLength: width,
          maxLength: width,
        }),
        async (batch) => {
          await Promise.all(
            batch.map(async ([bytes, splices]) => {
              const broken = splices.reduce<Buffer>((held, { at, cut, bytes: put }) => {
                const from = Math.floor(at * held.length);
                return Buffer.concat([held.subarray(0, from), put, held.subarray(from + cut)]);
              }, bytes);
              const { answers } = await exchange(service.port, [broken], { halfClose: true });
              for (const answer of answers) {
                expect(answer.status).toBeLessThan(500);
                if (answer.status >= 400) expect(JSON.parse(answer.body)).toHaveProperty('error');
              }
            }),
          );
        },
      );
      await fc.assert(property, { ...runs, numRuns: runs.numRuns / width });
      expect((await service.client.get('/health')).status).toBe(200);
      expect(service.log()).not.toContain('by a bug');
    },
    timeoutMs,
  );
});
