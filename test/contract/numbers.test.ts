/** Numbers keep their spelling: from requests to the job that a worker gets, and from an answer to the client. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { packedJob } from '../../src/contract/job-tools.ts';
import { done, started, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();

const ARGUMENTS = '{"user":1234567890123456789,"w":1.0,"p":1e22,"z":-0.0}';
/** As a client may write it: `minProperties` stands where a reader copies the schema. */
const SCHEMA =
  '{"minProperties":1.0,"type":"object","properties":{"user":{"type":"integer","maximum":9223372036854775807},"w":{"default":1.0,"enum":[1.0,1e22]}}}';
const SHAPES = [
  SCHEMA,
  SCHEMA.replace('"type":"object",', ''),
  SCHEMA.replace('"type":"object"', '"anyOf":[{}]'),
];

const post = (path: string, body: string) =>
  service.client.ask({ method: 'POST', path, body, headers: { 'content-type': 'application/json' } });

function sentJob(): { readonly tools: string; readonly calls: string[] } {
  const { job: sent } = service.engine.lastJob.submission;
  const job = sent.kind === 'explain' ? sent.job : sent;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  const calls = job.prompt.turns.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.argumentsJson));
  return { tools: packedJob(job).tools ?? '', calls };
}

const call: JobEvent[] = [
  { type: 'tool_call', name: 'ban' },
  { type: 'tool_arguments', text: ARGUMENTS },
];
const chatTurn = (given: string): string =>
  `{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ban","arguments":${given}}}]},{"role":"tool","tool_call_id":"c","content":"ok"}`;
const ollamaTurn = `{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"ban","arguments":${ARGUMENTS}}}]},{"role":"tool","tool_name":"ban","content":"ok"}`;
const messagesTurn = `{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ban","input":${ARGUMENTS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}`;
const responsesItems = `{"role":"user","content":"hi"},{"type":"function_call","call_id":"c","name":"ban","arguments":${JSON.stringify(ARGUMENTS)}},{"type":"function_call_output","call_id":"c","output":"ok"}`;

/** Small bodies and large ones have readers of their own. */
const PADDINGS = ['', 'x'.repeat(50_000)];

const requests: Readonly<Record<string, (schema: string, padding: string) => [path: string, body: string]>> =
  {
    'chat completions, arguments as text': (schema, padding) => [
      '/v1/chat/completions',
      `{"model":"default","user":"${padding}","messages":[${chatTurn(JSON.stringify(ARGUMENTS))}],"tools":[{"type":"function","function":{"name":"ban","parameters":${schema}}}]}`,
    ],
    'chat completions, arguments as data': (schema, padding) => [
      '/v1/chat/completions',
      `{"model":"default","user":"${padding}","messages":[${chatTurn(ARGUMENTS)}],"tools":[{"name":"ban","parameters":${schema}}]}`,
    ],
    messages: (schema, padding) => [
      '/v1/messages',
      `{"model":"default","max_tokens":50,"metadata":{"user_id":"${padding.slice(0, 200)}"},"system":"${padding}","messages":[${messagesTurn}],"tools":[{"name":"ban","input_schema":${schema}}]}`,
    ],
    'Ollama chat': (schema, padding) => [
      '/api/chat',
      `{"model":"default","stream":false,"keep_alive":"5m","messages":[{"role":"system","content":"${padding}"},${ollamaTurn}],"tools":[{"type":"function","function":{"name":"ban","parameters":${schema}}}]}`,
    ],
    responses: (schema, padding) => [
      '/v1/responses',
      `{"model":"default","instructions":"${padding}","input":[${responsesItems}],"tools":[{"type":"function","name":"ban","parameters":${schema}}]}`,
    ],
  };

describe.each(Object.entries(requests))('%s', (_, request) => {
  it('reach the worker as they were spelled', async () => {
    const cases = SHAPES.flatMap((schema) => PADDINGS.map((padding) => ({ schema, padding })));
    for (const { schema, padding } of cases) {
      const { status, text: answer } = await post(...request(schema, padding));
      expect(status, answer.slice(0, 300)).toBe(200);
      const job = sentJob();
      expect(job.calls).toEqual([ARGUMENTS]);
      for (const part of ['"minProperties":1.0', '9223372036854775807', '"default":1.0', '"enum":[1.0,1e22]'])
        expect(job.tools).toContain(part);
    }
  });

  it('reach the client as the model spelled them, whole and streamed', async () => {
    const [path, body] = request('{"type":"object"}', '');
    const asText = JSON.stringify(ARGUMENTS).slice(1, -1);
    const bare = ['/v1/messages', '/api/chat'].includes(path) ? ARGUMENTS : asText;
    service.engine.plays([started(), ...call, done('tool_calls')], [started(), ...call, done('tool_calls')]);
    const whole = await post(path, body);
    expect(whole.text).toContain(bare);
    const streamed = await post(path, body.replace('"stream":false,', '').replace('{', '{"stream":true,'));
    expect(streamed.text).toContain(path === '/api/chat' ? ARGUMENTS : asText);
  });
});

describe('a frozen answer', () => {
  it('is made of the canonical request, which its record names', async () => {
    const [path, body] = requests['chat completions, arguments as data']?.(SCHEMA, '') ?? ['', ''];
    const small = body.replaceAll('9223372036854775807', '5').replaceAll('1234567890123456789', '7');
    const headers = { 'content-type': 'application/json', 'x-svc-evidence-mode': 'frozen-v1' };
    const asked = `${path}?svc_dry_run=1`;
    await service.client.ask({ method: 'POST', path: asked, body: small.replaceAll('1e22', '1e2'), headers });
    expect(sentJob()).toMatchObject({
      calls: ['{"user":7,"w":1,"p":100,"z":0}'],
      tools: expect.stringContaining('"default":1,'),
    });
  });
});

describe('a line of a batch', () => {
  it('keeps the spelling to the job, and in the line that answers it', async () => {
    const [url, body] = requests['chat completions, arguments as data']?.(SCHEMA, '') ?? ['', ''];
    service.engine.plays([started(), ...call, done('tool_calls')]);
    const form = new FormData();
    const line = `{"custom_id":"a","method":"POST","url":"${url}","body":${body}}`;
    form.append('file', new Blob([line]), 'in.jsonl');
    form.append('purpose', 'batch');
    const sent = await fetch(`${service.url}/v1/files`, { method: 'POST', body: form });
    const { id } = (await sent.json()) as { id: string };
    const batch = { input_file_id: id, endpoint: url, completion_window: '24h' };
    let { body: now } = await service.client.post('/v1/batches', batch);
    while (now.status !== 'completed') {
      await new Promise(setImmediate);
      ({ body: now } = await service.client.get(`/v1/batches/${now.id}`));
      expect(['validating', 'in_progress', 'finalizing', 'completed']).toContain(now.status);
    }
    const job = sentJob();
    expect(job.calls).toEqual([ARGUMENTS]);
    expect(job.tools).toContain('9223372036854775807');
    const answered = await fetch(`${service.url}/v1/files/${now.output_file_id}/content`);
    expect(await answered.text()).toContain(JSON.stringify(ARGUMENTS).slice(1, -1));
  });
});

describe('a stored response', () => {
  it('keeps the spelling of its tools, its calls and the conversation before it', async () => {
    const [path, body] = requests['responses']?.(SCHEMA, '') ?? ['', ''];
    service.engine.plays([started(), ...call, done('tool_calls')]);
    const first = await post(path, body);
    const kept = await service.client.get(`/v1/responses/${first.body.id}`);
    expect(kept.text).toContain('"maximum":9223372036854775807');
    expect(kept.text).toContain(JSON.stringify(ARGUMENTS).slice(1, -1));
    service.engine.plays([started(), text('done'), done()]);
    const { call_id } = first.body.output.at(-1);
    const output = { type: 'function_call_output', call_id, output: 'ok' };
    await post(
      path,
      JSON.stringify({ model: 'default', previous_response_id: first.body.id, input: [output] }),
    );
    expect(sentJob().calls).toEqual([ARGUMENTS, ARGUMENTS]);
  });
});
