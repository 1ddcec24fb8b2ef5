/** Unmodified clients read an answer that carries the extra member `evidence`, and can hand it to a verifier. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ChatOpenAI } from '@langchain/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve({ SVC_NUM_THREADS: '1' });
});
afterAll(() => installation.remove());

const headers = { 'X-Svc-Evidence-Mode': 'frozen-v1' };
const baseURL = () => `${served.url}/v1`;

/** What the same question is answered without evidence. */
async function plainAnswer(): Promise<string> {
  const { body } = await served.client.chat({ max_tokens: 8, temperature: 0 });
  const { content } = body.choices[0].message;
  expect(content).toMatch(/\S/);
  return content;
}

describe('a frozen answer', () => {
  it('is read by openai, and verifies from what the client got', async () => {
    const openai = new OpenAI({ baseURL: baseURL(), apiKey: 'x', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const answer = await openai.chat.completions.create(
      { model: 'default', messages, max_tokens: 8 },
      { headers },
    );
    expect(answer.choices[0]?.message.content).toBe(await plainAnswer());
    expect(answer).toHaveProperty('evidence.payload');
    const file = path.join(installation.folder, 'answer.json');
    writeFileSync(file, JSON.stringify(answer));
    const verdict = await installation.run(['evidence', 'verify', file, '--json']);
    expect([verdict.code, verdict.stderr]).toEqual([0, '']);
  });

  it('is read by @langchain/openai', async () => {
    const model = new ChatOpenAI({
      model: 'default',
      apiKey: 'x',
      maxTokens: 8,
      maxRetries: 0,
      configuration: { baseURL: baseURL(), defaultHeaders: headers },
    });
    expect((await model.invoke('Hello')).content).toBe(await plainAnswer());
  });

  it('is read by ai', async () => {
    const provider = createOpenAICompatible({ name: 'hearth', baseURL: baseURL(), headers });
    const { text } = await generateText({
      model: provider('default'),
      prompt: 'Hello',
      maxOutputTokens: 8,
      maxRetries: 0,
    });
    expect(text).toBe(await plainAnswer());
  });
});
