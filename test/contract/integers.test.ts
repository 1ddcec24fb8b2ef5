/** Integers as clients in other languages send them, up to 64 bits, in every number of every request that a model answers. */
import { describe, expect, it } from 'vitest';
import { routes } from '../../src/wire/routes.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const messages = [{ role: 'user', content: 'Hello' }];

/** What a request needs besides its model, by path. */
const BODIES: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages },
  '/v1/completions': { prompt: 'Hello' },
  '/v1/embeddings': { model: 'default-embedding', input: 'Hello' },
  '/v1/rerank': { model: 'default-embedding', query: 'Hello', documents: ['a', 'b'] },
  '/v1/decisions': { input: 'x', questions: [{ type: 'predicate', instructions: 'y' }] },
  '/v1/tokenize': { input: 'Hello' },
  '/v1/detokenize': { tokens: [1] },
  '/v1/messages': { messages, max_tokens: 5 },
  '/v1/messages/count_tokens': { messages },
  '/v1/responses': { input: 'Hello' },
  '/v1/responses/input_tokens': { input: 'Hello' },
  '/completion': { prompt: 'Hello' },
  '/infill': { input_prefix: 'Hello', input_suffix: 'you' },
  '/tokenize': { content: 'Hello' },
  '/api/chat': { messages },
  '/api/generate': { prompt: 'Hello' },
  '/api/embed': { model: 'default-embedding', input: 'Hello' },
  '/api/embeddings': { model: 'default-embedding', prompt: 'Hello' },
};

/** More of these would be answers or lists that nobody asked for; OpenAI bounds them itself. */
const BOUNDED = new Set([
  'n',
  'best_of',
  'logprobs',
  'top_logprobs',
  'prompt_logprobs',
  'n_probs',
  'dimensions',
]);

interface Shape {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
}

/** The integers of a body, each with the names that lead to it. */
function integersIn({ properties = {} }: Shape): string[][] {
  return Object.entries(properties).flatMap(([name, shape]) => {
    const types = [shape.type].flat();
    const isNumber = types.includes('integer') && !types.includes('array') && !BOUNDED.has(name);
    return isNumber ? [[name]] : integersIn(shape).map((names) => [name, ...names]);
  });
}

const bodies = Object.values(routes).flatMap((route) =>
  'body' in route && Object.hasOwn(BODIES, route.path)
    ? [{ path: route.path, body: route.body as Shape }]
    : [],
);
const fields = bodies.flatMap(({ path, body }) =>
  integersIn(body).map((names) => [path, names.join('.'), names] as const),
);
const within = (names: readonly string[], value: unknown): object =>
  names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

describe('an integer of 64 bits', () => {
  it('is looked for in every field of every route', () => {
    expect(bodies.map(({ path }) => path).toSorted()).toEqual(Object.keys(BODIES).toSorted());
    const names = fields.map(([path, name]) => `${path} ${name}`);
    expect(names).toEqual(
      expect.arrayContaining([
        '/v1/chat/completions seed',
        '/v1/chat/completions reasoning_budget',
        '/v1/completions max_tokens',
        '/completion n_predict',
        '/infill top_k',
        '/v1/messages max_tokens',
        '/v1/responses max_output_tokens',
        '/v1/rerank top_n',
        '/api/chat options.seed',
        '/api/generate options.num_predict',
        '/api/generate options.repeat_last_n',
      ]),
    );
  });

  it.each(fields)('%s takes %s', async (path, _, names) => {
    for (const value of [2 ** 31, 2 ** 53 + 2, 2 ** 63]) {
      const { status, text } = await service.client.post(path, {
        model: 'default',
        stream: false,
        ...BODIES[path],
        ...within(names, value),
      });
      expect([status, text], String(value)).toEqual([200, text]);
    }
  });

  it.each(bodies.map(({ path }) => path))('%s takes a keep_alive', async (path) => {
    const { properties = {} } = bodies.find((each) => each.path === path)?.body ?? {};
    if (!Object.hasOwn(properties, 'keep_alive')) return;
    for (const keep_alive of [-1, 2 ** 31, 2 ** 63]) {
      const { status, text } = await service.client.post(path, {
        model: 'default',
        stream: false,
        ...BODIES[path],
        keep_alive,
      });
      expect([status, text], String(keep_alive)).toEqual([200, text]);
    }
  });
});

describe('a budget of thinking', () => {
  it.each([2 ** 31, 2 ** 53 + 2, 2 ** 63])(
    'of %d tokens is no other than the limit',
    async (budget_tokens) => {
      const thinking = { type: 'enabled', budget_tokens };
      const { status, text } = await service.client.post('/v1/messages', {
        model: 'default',
        messages,
        max_tokens: 2 ** 63,
        thinking,
      });
      expect([status, text]).toEqual([200, text]);
    },
  );
});

describe('a seed', () => {
  it.each([
    [7, 7],
    [2 ** 32 + 7, 7],
    [-2, 2 ** 32 - 2],
    [-(2 ** 63), 0],
    [2 ** 63, 0],
    [2 ** 53 + 2, 2],
  ])('of %d is %s in the engine', async (asked, seed) => {
    expect((await service.client.chat({ seed: asked })).status).toBe(200);
    const { job } = service.engine.lastJob.submission;
    expect(job.kind === 'generate' ? job.sampling.seed : null).toBe(seed);
  });

  it.each([1.5, 2 ** 65, -(2 ** 64)])('of %d is refused', async (seed) => {
    expect((await service.client.chat({ seed })).body.param).toBe('seed');
  });
});

describe('a count that the engine cannot hold', () => {
  it.each([
    [{ top_k: -1 }, 'topK', 0],
    [{ top_k: 2 ** 63 }, 'topK', 2 ** 31 - 1],
    [{ repeat_last_n: -1 }, 'repeatLastN', 65_536],
    [{ repeat_last_n: 2 ** 40 }, 'repeatLastN', 65_536],
  ] as const)('%j is the most that it can', async (asked, option, value) => {
    expect((await service.client.chat(asked)).status).toBe(200);
    const { job } = service.engine.lastJob.submission;
    expect(job.kind === 'generate' ? job.sampling[option] : null).toBe(value);
  });
});
