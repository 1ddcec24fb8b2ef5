/** The unmodified `@langchain/openai` package. */
import { ContextOverflowError } from '@langchain/core/errors';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { type Target, targets } from './targets.ts';

describe.each(targets)('@langchain/openai against %s', (_, start) => {
  let target: Target;
  beforeAll(async () => {
    target = await start();
  });
  afterAll(() => target.close());

  const connection = () => ({
    apiKey: 'sk-whatever',
    maxRetries: 0,
    configuration: { baseURL: target.baseURL },
  });
  const chat = (model = 'default') =>
    new ChatOpenAI({ ...connection(), model, temperature: 0, maxTokens: 8 });

  it('invokes', async () => {
    const message = await chat().invoke('Hello');
    expect(message.content).toMatch(/\S/);
    expect(totalOf(message)).toBeGreaterThan(0);
  });

  it('streams the same text, with its usage', async () => {
    const whole = await chat().invoke('Hello');
    let content = '';
    let total: number | undefined;
    for await (const chunk of await chat().stream('Hello')) {
      content += String(chunk.content);
      total = totalOf(chunk) ?? total;
    }
    expect(content).toBe(whole.content);
    expect(total).toBe(totalOf(whole));
  });

  it('embeds documents and queries into one space', async () => {
    const embeddings = new OpenAIEmbeddings({ ...connection(), model: 'default-embedding' });
    const [first, second] = await embeddings.embedDocuments(['The hearth is warm.', 'A cat sleeps.']);
    const query = await embeddings.embedQuery('The hearth is warm.');
    expect([first?.length, second?.length, query.length]).toEqual([768, 768, 768]);
    expect(Math.hypot(...query.map((value, i) => value - (first?.[i] ?? 0)))).toBeLessThan(1e-5);
    expect(Math.hypot(...query)).toBeCloseTo(1, 5);
  });

  it('recognises a prompt that does not fit', async () => {
    target.scripted?.engine.plays([
      fail('context_length_exceeded', { promptTokens: 9000, numCtx: 4096, model: 'tiny-chat' }),
    ]);
    const failure: unknown = await chat()
      .invoke('1 2 3 4 '.repeat(20_000))
      .catch((error: unknown) => error);
    expect(ContextOverflowError.isInstance(failure)).toBe(true);
    expect(String(failure)).toMatch(/[0-9]+ tokens \(num_ctx\)\..*hearth set |the model takes at most/);
  });

  it('raises the sentence of the service', async () => {
    await expect(chat('nobody').invoke('Hello')).rejects.toThrow(/is not installed/);
  });
});

/** The package types the metadata as never for a plain model. */
function totalOf(message: { readonly usage_metadata?: unknown }): number | undefined {
  return (message.usage_metadata as { total_tokens: number } | undefined)?.total_tokens;
}
