/**
 * The members that OpenAI's published description requires of its answers, with the types that it allows, and null among them
 * where a member may be null: clients that are generated from it fail where one is missing.
 */
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { scriptedService } from '../support/http/scripted-service.ts';

/** From the description of 2026-08-21; only what is required. */
const SHAPES = {
  chat: { choices: 'array', created: 'integer', id: 'string', model: 'string', object: 'string' },
  chatChoice: { finish_reason: 'string', index: 'integer', logprobs: 'null object', message: 'object' },
  chatMessage: { content: 'null string', refusal: 'null string', role: 'string' },
  chunk: { choices: 'array', created: 'integer', id: 'string', model: 'string', object: 'string' },
  chunkChoice: { delta: 'object', finish_reason: 'null string', index: 'integer' },
  usage: { completion_tokens: 'integer', prompt_tokens: 'integer', total_tokens: 'integer' },
  completion: { choices: 'array', created: 'integer', id: 'string', model: 'string', object: 'string' },
  completionChoice: { finish_reason: 'string', index: 'integer', logprobs: 'null object', text: 'string' },
  response: {
    created_at: 'number',
    error: 'null object',
    id: 'string',
    incomplete_details: 'null object',
    instructions: 'array null string',
    metadata: 'null object',
    model: 'string',
    object: 'string',
    output: 'array',
    parallel_tool_calls: 'boolean',
    temperature: 'null number',
    tool_choice: 'object string',
    tools: 'array',
    top_p: 'null number',
  },
  responseUsage: {
    input_tokens: 'integer',
    input_tokens_details: 'object',
    output_tokens: 'integer',
    output_tokens_details: 'object',
    total_tokens: 'integer',
  },
  message: { content: 'array', id: 'string', role: 'string', status: 'string', type: 'string' },
  text: { annotations: 'array', logprobs: 'array', text: 'string', type: 'string' },
  models: { data: 'array', object: 'string' },
  model: { created: 'integer', id: 'string', object: 'string', owned_by: 'string' },
  embeddings: { data: 'array', model: 'string', object: 'string', usage: 'object' },
  embedding: { embedding: 'array', index: 'integer', object: 'string' },
  file: {
    bytes: 'integer',
    created_at: 'integer',
    filename: 'string',
    id: 'string',
    object: 'string',
    purpose: 'string',
    status: 'string',
  },
  files: { data: 'array', first_id: 'string', has_more: 'boolean', last_id: 'string', object: 'string' },
  batch: {
    completion_window: 'string',
    created_at: 'integer',
    endpoint: 'string',
    id: 'string',
    input_file_id: 'string',
    object: 'string',
    status: 'string',
  },
  batches: { data: 'array', has_more: 'boolean', object: 'string' },
  failure: { code: 'null string', message: 'string', param: 'null string', type: 'string' },
} as const;
type Shape = keyof typeof SHAPES;

const service = scriptedService();
const answers = {} as Record<Shape, unknown>;
const messages = [{ role: 'user' as const, content: 'Hello' }];

beforeAll(async () => {
  const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const chat = await openai.chat.completions.create({ model: 'default', messages });
  const completion = await openai.completions.create({ model: 'default', prompt: 'Once' });
  const response = await openai.responses.create({ model: 'default', input: 'Hello' });
  const models = await service.client.get('/v1/models');
  const embeddings = await openai.embeddings.create({
    model: 'default-embedding',
    input: 'one',
    encoding_format: 'float',
  });
  const chunks = [];
  for await (const chunk of await openai.chat.completions.create({
    model: 'default',
    messages,
    stream: true,
  }))
    chunks.push(chunk);
  const line = {
    custom_id: 'a',
    method: 'POST',
    url: '/v1/completions',
    body: { model: 'default', prompt: 'x' },
  };
  const file = await openai.files.create({
    file: await toFile(Buffer.from(JSON.stringify(line)), 'in.jsonl'),
    purpose: 'batch',
  });
  const batch = await openai.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/completions',
    completion_window: '24h',
  });
  const refused = await openai.models.retrieve('nobody').catch((error: { error: unknown }) => error.error);
  const [message] = response.output;
  Object.assign(answers, {
    chat,
    chatChoice: chat.choices[0],
    chatMessage: chat.choices[0]?.message,
    chunk: chunks[0],
    chunkChoice: chunks[0]?.choices[0],
    usage: chat.usage,
    completion,
    completionChoice: completion.choices[0],
    response,
    responseUsage: response.usage,
    message,
    text: message?.type === 'message' ? message.content[0] : undefined,
    models: models.body,
    model: models.body.data[0],
    embeddings,
    embedding: embeddings.data[0],
    file,
    files: (await service.client.get('/v1/files')).body,
    batch,
    batches: (await service.client.get('/v1/batches')).body,
    failure: refused,
  });
});

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

describe("OpenAI's description", () => {
  it.each(Object.entries(SHAPES))('of %s holds', (shape, members) => {
    const answer = answers[shape as Shape] as Record<string, unknown>;
    for (const [name, allowed] of Object.entries<string>(members)) {
      const types = allowed
        .split(' ')
        .flatMap((type) => (type === 'number' ? ['number', 'integer'] : [type]));
      expect(types, `${shape}.${name} is ${JSON.stringify(answer?.[name])}`).toContain(
        typeOf(answer?.[name]),
      );
    }
  });
});
