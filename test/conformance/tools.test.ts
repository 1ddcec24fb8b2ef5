/** Unmodified clients against the real service; the grammar alone gives a model without sense its manners. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { template } from '../support/templates.ts';

const weather = z.object({ city: z.string().max(12), days: z.number().int().min(1).max(9).optional() });
const clock = z.object({ zone: z.enum(['UTC', 'CET']) });
const person = z.object({
  name: z.string().max(10),
  age: z.number().int().min(0).max(150),
  tags: z.array(z.enum(['a', 'b'])).max(3),
  home: z.object({ street: z.string().max(8) }).nullable(),
});

/** Sampling that every client can send, so that a run repeats. */
const steady = { temperature: 0.7, seed: 11 };

describe.each(['envelope', 'hermes'] as const)('with the %s format', (format) => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startService(format === 'hermes' ? { chatTemplate: template('hermes') } : {});
  });

  afterAll(() => service.close());

  describe('openai', () => {
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'get_weather', description: 'Weather.', parameters: z.toJSONSchema(weather) },
      },
      { type: 'function' as const, function: { name: 'get_time', parameters: z.toJSONSchema(clock) } },
    ];
    const open = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const ask = () => ({
      model: service.model,
      messages: [{ role: 'user' as const, content: 'How is Oslo?' }],
      max_tokens: 300,
      ...steady,
    });

    it('gets a call that it can run', async () => {
      const answer = await open().chat.completions.create({ ...ask(), tools, tool_choice: 'required' });
      const [choice] = answer.choices;
      expect(choice?.finish_reason).toBe('tool_calls');
      expect(choice?.message.content).toBe('');
      expect(choice?.message.tool_calls).toHaveLength(1);
      const [call] = choice?.message.tool_calls ?? [];
      if (call?.type !== 'function') throw new Error('no function call');
      const schema = call.function.name === 'get_weather' ? weather : clock;
      expect(schema.safeParse(JSON.parse(call.function.arguments)).success).toBe(true);
    });

    it('streams the same call under the same id', async () => {
      const client = open();
      const whole = await client.chat.completions.create({ ...ask(), tools, tool_choice: 'required' });
      const stream = client.chat.completions.stream({
        ...ask(),
        tools,
        tool_choice: 'required',
        stream_options: { include_usage: true },
      });
      const final = await stream.finalChatCompletion();
      expect(final.choices[0]?.finish_reason).toBe('tool_calls');
      expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject(
        whole.choices[0]?.message.tool_calls?.[0] ?? {},
      );
      expect(final.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
    });

    it('runs a tool loop to its end', async () => {
      const seen: unknown[] = [];
      const runner = open().chat.completions.runTools(
        {
          ...ask(),
          tool_choice: { type: 'function', function: { name: 'get_time' } },
          tools: [
            {
              type: 'function',
              function: {
                name: 'get_time',
                description: 'Time.',
                parse: JSON.parse,
                parameters: z.toJSONSchema(clock) as Record<string, unknown>,
                function: (args: unknown) => {
                  seen.push(args);
                  return '12:00';
                },
              },
            },
          ],
        },
        { maxChatCompletions: 2 },
      );
      await runner.done();
      expect(clock.safeParse(seen[0]).success).toBe(true);
    });

    it('parses a strict schema', async () => {
      const answer = await open().chat.completions.create({
        ...ask(),
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'person', strict: true, schema: z.toJSONSchema(person) },
        },
      });
      expect(answer.choices[0]?.finish_reason).toBe('stop');
      expect(person.safeParse(JSON.parse(answer.choices[0]?.message.content ?? '')).success).toBe(true);
    });

    it('gets a JSON object, log probabilities, several choices and a fingerprint', async () => {
      const client = open();
      const json = await client.chat.completions.create({
        ...ask(),
        max_tokens: 600,
        response_format: { type: 'json_object' },
      });
      if (json.choices[0]?.finish_reason === 'stop')
        expect(typeof JSON.parse(json.choices[0].message.content ?? '')).toBe('object');
      const many = await client.chat.completions.create({
        ...ask(),
        max_tokens: 8,
        n: 2,
        logprobs: true,
        top_logprobs: 3,
        stop: ['zzz'],
      });
      expect(many.choices.map(({ index }) => index)).toEqual([0, 1]);
      expect(many.choices[0]?.logprobs?.content?.[0]?.top_logprobs).toHaveLength(3);
      expect(many.system_fingerprint).toMatch(/^fp_[0-9a-f]{16}$/);
    });

    it('is refused by name what cannot be enforced', async () => {
      const bad = { type: 'object', properties: { a: { not: { patternProperties: {} } } } };
      const refused = open().chat.completions.create({
        ...ask(),
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: bad } },
      });
      await expect(refused).rejects.toThrow(
        /400.*not.* at response_format\.json_schema\.schema\.properties\.a\.not/,
      );
      const badTool = open().chat.completions.create({
        ...ask(),
        tools: [{ type: 'function', function: { name: 'no spaces' } }],
      });
      await expect(badTool).rejects.toThrow(/400.*tools\[0\]\.function\.name/);
    });
  });

  it('a dry run renders the prompt and generates nothing', async () => {
    const body = {
      model: service.model,
      messages: [{ role: 'user', content: 'How is Oslo?' }],
      tools: [{ name: 'get_time', parameters: z.toJSONSchema(clock) }],
    };
    const response = await fetch(`${service.url}/v1/chat/completions?svc_dry_run=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const report = (await response.json()) as Record<string, unknown>;
    expect(report).toMatchObject({
      object: 'svc.dry_run',
      tool_format: format === 'hermes' ? 'json <tool_call>' : format,
      fits: true,
      would_evict: [],
    });
    expect(report['rendered_prompt']).toContain('get_time');
    expect(report['prompt_tokens']).toBeGreaterThan(50);
  });

  it('@langchain/openai: an agent loop with two tools', async () => {
    const tools = [
      langchainTool(async ({ city }) => `sunny in ${city}`, {
        name: 'get_weather',
        description: 'Weather.',
        schema: weather,
      }),
      langchainTool(async ({ zone }) => `12:00 ${zone}`, {
        name: 'get_time',
        description: 'Time.',
        schema: clock,
      }),
    ] as const;
    const chat = new ChatOpenAI({
      model: service.model,
      apiKey: 'none',
      temperature: 0.7,
      maxTokens: 300,
      maxRetries: 0,
      configuration: { baseURL: `${service.url}/v1` },
    });
    const messages: (HumanMessage | ToolMessage | Awaited<ReturnType<typeof chat.invoke>>)[] = [
      new HumanMessage('How is Oslo, and what time is it?'),
    ];
    const ids = new Set<string>();
    for (let step = 0; step < 3; step += 1) {
      const forced = chat.bindTools([...tools], { tool_choice: step < 2 ? 'required' : 'none' });
      const answer = await forced.invoke(messages);
      messages.push(answer);
      expect(answer.invalid_tool_calls ?? []).toEqual([]);
      for (const call of answer.tool_calls ?? []) {
        const [getWeather, getTime] = tools;
        const ready = { ...call, type: 'tool_call' as const, id: call.id ?? '' };
        const result: unknown = await (call.name === 'get_time'
          ? getTime.invoke(ready)
          : getWeather.invoke(ready));
        expect(result).toBeInstanceOf(ToolMessage);
        ids.add(call.id ?? '');
        messages.push(result as ToolMessage);
      }
    }
    expect(ids.size).toBe(2);
    let streamed = '';
    for await (const chunk of await chat.bindTools([...tools], { tool_choice: 'required' }).stream(messages))
      for (const piece of chunk.tool_call_chunks ?? []) streamed += piece.args ?? '';
    expect(typeof JSON.parse(streamed)).toBe('object');
  });

  describe('ai', () => {
    const provider = () =>
      createOpenAICompatible({
        name: 'hearth',
        baseURL: `${service.url}/v1`,
        includeUsage: true,
        supportsStructuredOutputs: true,
      });
    const tools = {
      get_weather: tool({
        description: 'Weather.',
        inputSchema: weather,
        execute: async ({ city }) => `sunny in ${city}`,
      }),
      get_time: tool({
        description: 'Time.',
        inputSchema: clock,
        execute: async ({ zone }) => `12:00 ${zone}`,
      }),
    };
    const ask = () => ({
      model: provider()(service.model),
      prompt: 'How is Oslo?',
      maxOutputTokens: 300,
      maxRetries: 0,
      ...steady,
    });

    it('generateText runs tools over several steps', async () => {
      const result = await generateText({
        ...ask(),
        tools,
        toolChoice: 'required',
        stopWhen: stepCountIs(2),
      });
      expect(result.steps).toHaveLength(2);
      for (const step of result.steps) {
        expect(step.finishReason).toBe('tool-calls');
        expect(step.toolResults).toHaveLength(1);
      }
      expect(new Set(result.steps.map((step) => step.toolCalls[0]?.toolCallId)).size).toBe(2);
    });

    it('streamText streams text and tool calls', async () => {
      const spoken = streamText({ ...ask(), maxOutputTokens: 12 });
      expect((await gather(spoken.textStream)).join('')).toBe(await spoken.text);
      const called = streamText({ ...ask(), tools, toolChoice: 'required' });
      const kinds = (await gather(called.fullStream)).map(({ type }) => type);
      expect(kinds).toContain('tool-call');
      expect(kinds).toContain('tool-result');
      expect(kinds).not.toContain('error');
      expect((await called.usage).outputTokens).toBeGreaterThan(0);
    });

    it('generateObject and streamObject give objects of the schema', async () => {
      const whole = await generateObject({ ...ask(), schema: person });
      expect(person.safeParse(whole.object).success).toBe(true);
      const streamed = streamObject({ ...ask(), schema: person });
      for await (const partial of streamed.partialObjectStream) expect(typeof partial).toBe('object');
      expect(person.safeParse(await streamed.object).success).toBe(true);
    });
  });
});

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
