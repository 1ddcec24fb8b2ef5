/** The unmodified `openai` package. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { answer, forEver, started, text } from '../support/http/scripted-engine.ts';
import { type ScriptedService, startScripted } from '../support/http/scripted-service.ts';
import { verifies } from '../contract/requirements.ts';
import { type Target, targets } from './targets.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const short = { model: 'default', messages, max_tokens: 8, temperature: 0 };

describe.each(targets)('openai against %s', (_, start) => {
  let target: Target;
  let openai: OpenAI;
  beforeAll(async () => {
    target = await start();
    openai = new OpenAI({ baseURL: target.baseURL, apiKey: 'sk-whatever', maxRetries: 0 });
  });
  afterAll(() => target.close());

  it('completes a chat', async () => {
    const { data, request_id } = await openai.chat.completions.create(short).withResponse();
    verifies(['post-chat.response', 'response.choices'], () => {
      expect(data.choices[0]?.message.content).toMatch(/\S/);
      expect(['stop', 'length']).toContain(data.choices[0]?.finish_reason);
    });
    const { prompt_tokens = 0, completion_tokens = 0, total_tokens = 0 } = data.usage ?? {};
    verifies('response.usage', () => {
      expect(Math.min(prompt_tokens, completion_tokens)).toBeGreaterThan(0);
      expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    });
    expect(request_id).toMatch(/^req_/);
  });

  it('streams the same text', async () => {
    const whole = await openai.chat.completions.create(short);
    const stream = await openai.chat.completions.create({
      ...short,
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    verifies(['stream.lines', 'stream.text'], () => {
      expect(content).toMatch(/\S/);
      expect(content).toBe(whole.choices[0]?.message.content);
    });
    expect(usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
  });

  it('ends a stream that max_tokens cuts off with length', async () => {
    const stream = await openai.chat.completions.create({ ...short, max_tokens: 1, stream: true });
    const reasons: (string | null)[] = [];
    for await (const { choices } of stream) reasons.push(...choices.map((choice) => choice.finish_reason));
    expect(['stop', 'length']).toContain(reasons.at(-1));
    if (target.scripted === null) expect(reasons.at(-1)).toBe('length');
  });

  it('streams through its helper', async () => {
    const stream = openai.chat.completions.stream(short);
    const deltas: string[] = [];
    stream.on('content', (delta) => deltas.push(delta));
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(deltas.join(''));
    expect(final.choices[0]?.message.role).toBe('assistant');
  });

  it('embeds, by its default in base64, equal to numbers', async () => {
    const input = ['The hearth is warm.', 'A cat sleeps.'];
    const request = { model: 'default-embedding', input };
    const byDefault = await openai.embeddings.create(request);
    const asFloats = await openai.embeddings.create({ ...request, encoding_format: 'float' });
    verifies(['embedding.data', 'embeddings.width'], () =>
      expect(byDefault.data.map(({ embedding }) => embedding.length)).toEqual([768, 768]),
    );
    expect(byDefault.data.map(({ embedding }) => [...embedding])).toEqual(
      asFloats.data.map(({ embedding }) => embedding),
    );
    expect(byDefault.usage.total_tokens).toBeGreaterThan(0);
  });

  it('completes plain text', async () => {
    const { choices, usage } = await openai.completions.create({
      model: 'default',
      prompt: 'Once',
      max_tokens: 4,
    });
    expect(choices.map(({ index, text }) => [index, text.length > 0])).toEqual([[0, true]]);
    expect(usage?.prompt_tokens).toBeGreaterThan(0);
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  it('lists and retrieves models', async () => {
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    verifies(['models.data', 'get-models.response'], () => expect(ids.length).toBeGreaterThanOrEqual(2));
    for (const id of ids) expect((await openai.models.retrieve(id)).id).toBe(id);
  });

  it('raises its own classes of errors with the sentence of the service', async () => {
    const unknown = await caught(openai.chat.completions.create({ ...short, model: 'nobody' }));
    verifies('errors.404', () => {
      expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
      expect(unknown).toMatchObject({
        status: 404,
        code: 'model_not_found',
        param: 'model',
        type: 'invalid_request_error',
        message: expect.stringMatching(/^404 Model "nobody" is not installed; /),
      });
    });
    const invalid = await caught(openai.chat.completions.create({ ...short, temperature: -1 }));
    verifies('errors.400', () => expect(invalid).toBeInstanceOf(OpenAI.BadRequestError));
    expect(invalid.message).toContain('temperature');
    const streamed = await caught(
      openai.chat.completions.create({ ...short, model: 'nobody', stream: true }),
    );
    expect(streamed).toBeInstanceOf(OpenAI.NotFoundError);
    const empty = await caught(openai.embeddings.create({ model: 'default-embedding', input: [] }));
    expect(empty).toBeInstanceOf(OpenAI.BadRequestError);
  });
});

describe('openai against failures', () => {
  let service: ScriptedService;
  const client = (maxRetries: number) =>
    new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'sk-whatever', maxRetries });
  beforeAll(async () => {
    service = await startScripted();
  });
  afterAll(() => service.close());

  it('waits as long as a full queue asks, and then succeeds', async () => {
    service.engine.plays([fail('queue_full', { limit: 1, retryAfterS: 1 })], answer('at last'));
    const { choices } = await client(1).chat.completions.create(short);
    expect(choices[0]?.message.content).toBe('at last');
  });

  it('raises a rate limit error when it may not retry', async () => {
    service.engine.plays([fail('queue_full', { limit: 1, retryAfterS: 1 })]);
    const error = await caught(client(0).chat.completions.create(short));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  });

  it('does not repeat what would fail again', async () => {
    const before = service.engine.played.length;
    service.engine.plays([fail('out_of_memory', { model: 'm', reason: 'no room' })]);
    const error = await caught(client(5).chat.completions.create(short));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(service.engine.played.length).toBe(before + 1);
  });

  it('raises an error, not a short answer, when a stream breaks', async () => {
    service.engine.plays([
      started(),
      text('half'),
      fail('worker_crashed', { model: 'tiny-chat', reason: 'signal SIGKILL' }),
    ]);
    const stream = await client(0).chat.completions.create({ ...short, stream: true });
    const heard: string[] = [];
    const error = await caught(
      (async () => {
        for await (const chunk of stream) heard.push(chunk.choices[0]?.delta.content ?? '');
      })(),
    );
    expect(heard.join('')).toBe('half');
    expect(error).toBeInstanceOf(Error);
  });

  it('stops the engine when it is told to abort', async () => {
    service.engine.plays([started(), text('a'), forEver()]);
    const stream = await client(0).chat.completions.create({ ...short, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'a') stream.controller.abort();

    expect(await service.engine.lastJob.ended).toBe('aborted');
  });

  it('finds a model whose id has a slash and a tag', async () => {
    expect((await client(0).models.retrieve('acme/tiny-chat:q4')).id).toBe('acme/tiny-chat:q4');
  });
});

async function caught(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was raised');
}
