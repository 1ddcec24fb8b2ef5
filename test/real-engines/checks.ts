/** What the interface promises of any chat model, asked over HTTP of one that some engine runs. */
import { expect } from 'vitest';
import type { HttpClient } from '../support/http/http-client.ts';

export type Check = (client: HttpClient, model: string) => Promise<void>;

const messages = [{ role: 'user', content: 'Hello, who are you?' }];
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 12 } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
const schema = {
  type: 'object',
  properties: { yes: { type: 'boolean' } },
  required: ['yes'],
  additionalProperties: false,
};

export const checks: Readonly<Record<string, Check>> = {
  'whole answer': async (client, model) => {
    const { status, body } = await client.chat({ model, messages, temperature: 0, max_tokens: 16 });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ object: 'chat.completion', model });
    expect(body.id).toMatch(/^chatcmpl-svc-\d+$/);
    expect(body.choices[0].message.content).not.toBe('');
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    expect(body.usage.prompt_tokens).toBeGreaterThan(0);
  },
  'stream equals whole answer': async (client, model) => {
    const fields = { model, messages, temperature: 0, seed: 1, max_tokens: 16 };
    const whole = await client.chat(fields);
    const said = await (await client.streamChat(fields)).all();
    expect(said).toMatchObject({ done: true, complete: true, text: whole.body.choices[0].message.content });
  },
  'usage in a stream': async (client, model) => {
    const fields = { model, messages, max_tokens: 4, stream_options: { include_usage: true } };
    const { chunks } = await (await client.streamChat(fields)).all();
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
  },
  'token limit': async (client, model) => {
    const { body } = await client.chat({ model, messages, max_tokens: 3 });
    expect([body.choices[0].finish_reason, body.usage.completion_tokens]).toEqual(['length', 3]);
  },
  'stop string': async (client, model) => {
    const plain = await client.chat({ model, messages, temperature: 0, max_tokens: 16 });
    const text: string = plain.body.choices[0].message.content;
    const stop = text.slice(4, 8);
    const { body } = await client.chat({ model, messages, temperature: 0, max_tokens: 16, stop: [stop] });
    expect(body.choices[0].message.content).toBe(text.slice(0, text.indexOf(stop)));
  },
  'JSON schema': async (client, model) => {
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    const { status, body } = await client.chat({ model, messages, response_format, max_tokens: 64 });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(Object.keys(JSON.parse(body.choices[0].message.content))).toEqual(['yes']);
  },
  grammar: async (client, model) => {
    const { status, body } = await client.chat({
      model,
      messages,
      grammar: 'root ::= "yes" | "no"',
      max_tokens: 8,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(['yes', 'no']).toContain(body.choices[0].message.content);
  },
  'forced tool call': async (client, model) => {
    const fields = { model, messages, tools: [weather], tool_choice: 'required', max_tokens: 128 };
    const { status, body } = await client.chat(fields);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    expect(body.choices[0].message.tool_calls[0].function.name).toBe('get_weather');
  },
  'result of a tool': async (client, model) => {
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    };
    const history = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
    ];
    const { status, body } = await client.chat({
      model,
      messages: history,
      tools: [weather],
      tool_choice: 'none',
      max_tokens: 8,
    });
    expect(status, JSON.stringify(body)).toBe(200);
  },
  logprobs: async (client, model) => {
    const { body } = await client.chat({ model, messages, logprobs: true, top_logprobs: 2, max_tokens: 3 });
    expect(body.choices[0].logprobs.content.length).toBeGreaterThan(0);
  },
  'text completion': async (client, model) => {
    const { status, body } = await client.post('/v1/completions', {
      model,
      prompt: 'Once upon',
      max_tokens: 4,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.choices[0].text).not.toBe('');
  },
  'several choices': async (client, model) => {
    const { body } = await client.chat({ model, messages, n: 2, max_tokens: 2 });
    expect(body.choices).toHaveLength(2);
  },
  'Messages dialect': async (client, model) => {
    const { status, body } = await client.post('/v1/messages', { model, messages, max_tokens: 4 });
    expect([status, body.type]).toEqual([200, 'message']);
  },
  'Responses dialect': async (client, model) => {
    const { status, body } = await client.post('/v1/responses', {
      model,
      input: 'Hello',
      max_output_tokens: 4,
    });
    expect([status, body.object]).toEqual([200, 'response']);
  },
  'prompt too long': async (client, model) => {
    const long = [{ role: 'user', content: 'word '.repeat(20_000) }];
    const { status, body } = await client.chat({ model, messages: long, max_tokens: 4 });
    expect([status, body.code]).toEqual([400, 'context_length_exceeded']);
  },
  'image part is refused by name': async (client, model) => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
    const asked = { model, messages: [{ role: 'user', content }], max_tokens: 4 };
    const { status, body } = await client.chat(asked);
    expect(status).toBe(400);
    // The engine's own words, where Hearth does not know what it takes.
    expect(body.error).toMatch(/messages\[0\]\.content\[0\]|image|multimodal/);
  },
  'frozen-v1 is refused': async (client, model) => {
    const { status } = await client.chat({ model, messages }, { 'x-svc-evidence-mode': 'frozen-v1' });
    expect(status).toBe(400);
  },
  'a client that leaves frees the engine': async (client, model) => {
    const answer = await client.streamChat({ model, messages, max_tokens: 900, temperature: 2 });
    await answer.firstText();
    answer.abandon();
    await expect
      .poll(
        async () =>
          (await client.get('/svc/residency')).body.data.find(({ id }: { id: string }) => id === model)
            ?.running,
      )
      .toBe(0);
  },
};
