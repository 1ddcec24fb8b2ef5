/** Numbers of calls and of tools keep their spelling on the way to an upstream and back, in every dialect. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';
import { type EngineService, startEngines } from '../support/upstream/service.ts';

const INPUT = '{"user":1234567890123456789,"weight":1.0,"power":1e22}';
const SCHEMA =
  '{"type":"object","properties":{"user":{"type":"integer","maximum":9223372036854775807,"default":1.0}}}';
const MODELS = ['script'];

let upstream: ScriptedUpstream;
let engines: EngineService;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = MODELS;
  engines = await startEngines({});
  await engines.add({ name: 'box', baseUrl: `${upstream.url}/v1` }, MODELS);
});

afterAll(async () => {
  await engines.close();
  await upstream.close();
});

const ask = async (path: string, body: string): Promise<string> => {
  const reply = await fetch(engines.service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return reply.text();
};

const event = (delta: string, finish: string): string =>
  `data: {"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
const answer = (args: string): string =>
  event(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":${args}}}]}`, 'null') +
  event('{}', '"tool_calls"') +
  'data: [DONE]\n\n';

const CHAT_TOOLS = `[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]`;
const requests: readonly (readonly [path: string, body: string])[] = [
  [
    '/v1/chat/completions',
    `{"model":"box/script","tools":${CHAT_TOOLS},"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":${JSON.stringify(INPUT)}}}]},{"role":"tool","tool_call_id":"x","content":"b"}]}`,
  ],
  [
    '/v1/messages',
    `{"model":"box/script","max_tokens":9,"tools":[{"name":"f","input_schema":${SCHEMA}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"f","input":${INPUT}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"b"}]}]}`,
  ],
  [
    '/v1/responses',
    `{"model":"box/script","tools":[{"type":"function","name":"f","parameters":${SCHEMA}}],"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"x","name":"f","arguments":${JSON.stringify(INPUT)}},{"type":"function_call_output","call_id":"x","output":"b"}]}`,
  ],
];

describe('numbers as they are spelled', () => {
  it.each(requests)('reach an upstream through %s', async (path, body) => {
    upstream.script = answer('"{}"');
    await ask(path, body);
    const { text = '' } =
      upstream.requests.findLast((request) => request.path === '/v1/chat/completions') ?? {};
    expect(text).toContain(JSON.stringify(INPUT));
    expect(text).toContain(SCHEMA);
  });

  it.each(
    requests.flatMap(([path, body]) => [
      [path, 'text', JSON.stringify(INPUT), body] as const,
      [path, 'an object', INPUT, body] as const,
    ]),
  )('come back through %s, given as %s', async (path, _, args, body) => {
    upstream.script = answer(args);
    const replied = await ask(path, body);
    expect(replied).toContain(path === '/v1/messages' ? INPUT : JSON.stringify(INPUT));
  });
});
