/** openai-node, as the other programs here: one line of JSON for each check. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const { HEARTH_URL: URL_, HEARTH_KEY: KEY, HEARTH_BUSY_URL: BUSY } = process.env;
const HELLO = [{ role: 'user', content: 'Hello!' }];
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const must = (isSo, what) => {
  if (!isSo) throw new Error(what);
};
const client = (url = URL_, apiKey = KEY) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const chat = (over = {}, asked = client()) =>
  asked.chat.completions.create({ model: 'default', messages: HELLO, max_tokens: 32, ...over });
const Choice = z.object({ colour: z.enum(['red', 'green', 'blue']), sure: z.boolean() });
const parameters = { type: 'object', properties: { city: { enum: ['Paris', 'Rome'] } }, required: ['city'] };

const checks = {
  chat: async () => must((await chat()).choices[0].message.content, 'no text'),
  stream: async () => {
    let text = '';
    for await (const { choices } of await chat({ stream: true })) text += choices[0]?.delta.content ?? '';
    must(text, 'no text');
  },
  tools: async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
    const { choices } = await chat({ tools, tool_choice: 'required' });
    must('city' in JSON.parse(choices[0].message.tool_calls[0].function.arguments), 'no city');
  },
  structured: async () => {
    const answer = await client().chat.completions.parse({
      model: 'default',
      messages: HELLO,
      response_format: zodResponseFormat(Choice, 'choice'),
    });
    must(typeof answer.choices[0].message.parsed.sure === 'boolean', 'not sure');
  },
  embeddings: async () => {
    const { data } = await client().embeddings.create({ model: 'default-embedding', input: ['one', 'two'] });
    must(
      data.every(({ embedding }) => embedding.length === 768),
      'no vectors of 768 numbers',
    );
  },
};
const errors = {
  404: ['model_not_found', 'nobody', () => chat({ model: 'nobody' })],
  400: ['invalid_request', 'temperature', () => chat({ temperature: -1 })],
  401: ['unauthorized', 'key', () => chat({}, client(URL_, 'wrong'))],
  ...(BUSY ? { 429: ['queue_full', 'wait', () => chat({}, client(BUSY))] } : {}),
  overflow: [
    'context_length_exceeded',
    'context size',
    () => chat({ messages: [{ role: 'user', content: 'word '.repeat(400_000) }] }),
  ],
};

const entry = createRequire(import.meta.url).resolve('openai');
say({ version: JSON.parse(readFileSync(path.join(path.dirname(entry), 'package.json'), 'utf8')).version });
for (const [name, [code, words, call]] of Object.entries(errors)) {
  checks[name] = async () => {
    const error = await call().then(
      () => null,
      (thrown) => thrown,
    );
    must(error?.status === (name === 'overflow' ? 400 : Number(name)), `status ${error?.status}`);
    must(error.code === code, `code ${error.code}`);
    must(error.message.toLowerCase().includes(words), `text ${error.message}`);
  };
}
for (const [check, attempt] of Object.entries(checks)) {
  try {
    await attempt();
    say({ check, ok: true });
  } catch (error) {
    say({ check, ok: false, detail: String(error).slice(0, 300) });
  }
}
