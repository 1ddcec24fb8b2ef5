/** The unmodified `ai` package with `@ai-sdk/openai-compatible`. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { started, text } from '../support/http/scripted-engine.ts';
import { type ScriptedService, startScripted } from '../support/http/scripted-service.ts';
import { type Target, targets } from './targets.ts';

describe.each(targets)('ai against %s', (_, start) => {
  let target: Target;
  beforeAll(async () => {
    target = await start();
  });
  afterAll(() => target.close());

  const provider = () =>
    createOpenAICompatible({ name: 'hearth', baseURL: target.baseURL, includeUsage: true });
  const ask = (model = 'default') => ({
    model: provider()(model),
    prompt: 'Hello',
    temperature: 0,
    maxOutputTokens: 8,
    maxRetries: 0,
  });

  it('generates text', async () => {
    const { text: whole, finishReason, usage } = await generateText(ask());
    expect(whole).toMatch(/\S/);
    expect(['stop', 'length']).toContain(finishReason);
    expect(usage.totalTokens).toBeGreaterThan(0);
  });

  it('streams the same text, with its usage and finish reason', async () => {
    const whole = await generateText(ask());
    const result = streamText(ask());
    let content = '';
    for await (const delta of result.textStream) content += delta;
    expect(content).toBe(whole.text);
    expect((await result.usage).totalTokens).toBe(whole.usage.totalTokens);
    expect(await result.finishReason).toBe(whole.finishReason);
    expect((await result.response).id).toMatch(/^chatcmpl-svc-/);
  });

  it('embeds many values', async () => {
    const { embeddings, usage } = await embedMany({
      model: provider().embeddingModel('default-embedding'),
      values: ['The hearth is warm.', 'A cat sleeps.', 'The hearth is warm.'],
      maxRetries: 0,
    });
    expect(embeddings.map(({ length }) => length)).toEqual([768, 768, 768]);
    expect(embeddings[2]).toEqual(embeddings[0]);
    expect(usage.tokens).toBeGreaterThan(0);
  });

  it('shows the sentence of the service, which it takes from the status line', async () => {
    const error = await generateText(ask('nobody')).catch((raised: unknown) => raised);
    expect(error).toBeInstanceOf(APICallError);
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect((error as Error).message).toContain('is not installed');
  });
});

describe('ai against failures', () => {
  let service: ScriptedService;
  beforeAll(async () => {
    service = await startScripted();
  });
  afterAll(() => service.close());

  it('raises an error, not a short answer, when a stream breaks', async () => {
    service.engine.plays([
      started(),
      text('half'),
      fail('worker_hung', { model: 'tiny-chat', reason: 'silent' }),
    ]);
    const provider = createOpenAICompatible({ name: 'hearth', baseURL: `${service.url}/v1` });
    const { fullStream } = streamText({
      model: provider('default'),
      prompt: 'Hello',
      maxRetries: 0,
      onError: () => {},
    });
    let content = '';
    const kinds: string[] = [];
    const read = async () => {
      for await (const part of fullStream) {
        kinds.push(part.type);
        if (part.type === 'text-delta') content += part.text;
      }
    };
    // The error frame is a part of its own; the cut transfer may end the reading as well.
    const end = await read().then(
      () => 'ended',
      () => 'raised',
    );
    expect(content).toBe('half');
    expect(kinds.includes('error') || end === 'raised').toBe(true);
  });
});
