/** Integers as clients in other languages send them, up to 64 bits. The fields are those of the wire schemas. */
import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../src/wire/inference/chat.ts';
import { CompletionRequest } from '../../src/wire/inference/completions.ts';
import { NativeCompletionRequest } from '../../src/wire/llama-server.ts';
import { MessagesRequest } from '../../src/wire/messages/request.ts';
import { InputTokensRequest } from '../../src/wire/responses/request.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const messages = [{ role: 'user', content: 'Hello' }];

const ROUTES = [
  ['/v1/chat/completions', ChatRequest, { messages }],
  ['/v1/completions', CompletionRequest, { prompt: 'Hello' }],
  ['/completion', NativeCompletionRequest, { prompt: 'Hello' }],
  ['/v1/messages', MessagesRequest, { messages, max_tokens: 5 }],
  ['/v1/responses', InputTokensRequest, { input: 'Hello' }],
] as const;

/** OpenAI bounds these itself; more of them would be an answer that nobody asked for. */
const BOUNDED = new Set(['n', 'best_of', 'logprobs', 'top_logprobs', 'n_probs']);

const fields = ROUTES.flatMap(([path, { properties }, body]) =>
  Object.entries(properties as unknown as Record<string, { type?: unknown }>)
    .filter(
      ([name, { type }]) =>
        [type].flat().includes('integer') && ![type].flat().includes('array') && !BOUNDED.has(name),
    )
    .map(([name]) => [path, name, body] as const),
);

describe('an integer of 64 bits', () => {
  it('is looked for in every field', () => {
    const names = fields.map(([, name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(['seed', 'max_tokens', 'top_k', 'repeat_last_n', 'num_ctx']),
    );
  });

  it.each(fields)('%s takes %s', async (path, name, body) => {
    for (const value of [2 ** 31, 2 ** 53 + 2, 2 ** 63]) {
      const { status, text } = await service.client.post(path, { model: 'default', ...body, [name]: value });
      expect([status, text], String(value)).toEqual([200, text]);
    }
  });
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
