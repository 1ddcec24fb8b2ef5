/** The unmodified `ai` package over its own providers of the Messages and the Responses dialect. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { template } from '../support/templates.ts';

const person = z.object({ name: z.string().max(10), age: z.number().int().min(0).max(150) });
const tools = {
  get_weather: tool({
    description: 'Weather.',
    inputSchema: z.object({ city: z.string().max(12) }),
    execute: async ({ city }) => `sunny in ${city}`,
  }),
};

const providers: readonly (readonly [string, (service: ServiceProcess) => LanguageModel])[] = [
  ['anthropic', ({ url, model }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' })(model)],
  ['openai', ({ url, model }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).responses(model)],
];

describe.each(providers)('@ai-sdk/%s', (_, modelOf) => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startService({ chatTemplate: template('hermes') });
  });
  afterAll(() => service.close());
  const ask = () => ({
    model: modelOf(service),
    prompt: 'How is Oslo?',
    maxOutputTokens: 300,
    temperature: 0.7,
    maxRetries: 0,
  });

  it('runs tools over several steps', async () => {
    const result = await generateText({ ...ask(), tools, toolChoice: 'required', stopWhen: stepCountIs(2) });
    expect(result.steps).toHaveLength(2);
    for (const step of result.steps) {
      expect(step.finishReason).toBe('tool-calls');
      expect(step.toolResults.length).toBeGreaterThan(0);
      expect(step.toolResults.length).toBe(step.toolCalls.length);
    }
  });

  it('streams text, and calls of tools', async () => {
    const spoken = streamText({ ...ask(), maxOutputTokens: 12 });
    let pieces = '';
    for await (const piece of spoken.textStream) pieces += piece;
    expect(pieces).toBe(await spoken.text);
    const called = streamText({ ...ask(), tools, toolChoice: 'required' });
    const kinds = new Set<string>();
    for await (const { type } of called.fullStream) kinds.add(type);
    expect([...kinds]).toEqual(expect.arrayContaining(['tool-call', 'tool-result', 'finish']));
    expect(kinds).not.toContain('error');
    expect((await called.usage).outputTokens).toBeGreaterThan(0);
  });

  it('gets an object of a schema', async () => {
    const { output } = await generateText({ ...ask(), output: Output.object({ schema: person }) });
    expect(person.safeParse(output).success).toBe(true);
  });
});
