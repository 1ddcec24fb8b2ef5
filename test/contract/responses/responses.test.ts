/** POST /v1/responses over a scripted engine: what goes in, what comes out whole, what is kept. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../../src/contract/job.ts';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import { answer, done, gate, started, text } from '../../support/http/scripted-engine.ts';
import { installed, scriptedService, startScripted } from '../../support/http/scripted-service.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';
import { addKey } from '../../../src/store/keys/key-file.ts';
import { verifies } from '../requirements.ts';

const service = scriptedService();
const keyed = scriptedService({ apiKey: 'the key' });
const path = '/v1/responses';
const pathIn = (home: string): string => join(home, 'responses');
const ask = (fields: object = {}, headers: Record<string, string> = {}) =>
  service.client.post(path, { model: 'default', input: 'Hello', ...fields }, headers);

const weather = {
  type: 'function',
  name: 'weather',
  description: 'Tells it.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: true,
};
const patch = {
  type: 'custom',
  name: 'patch',
  description: 'Edits.',
  format: { type: 'grammar', syntax: 'lark' },
};
/** The required members of ResponseResource in the specification of 2026-04-24. */
const OPEN_RESPONSES_MEMBERS = `
  id object created_at completed_at status incomplete_details model previous_response_id instructions output error
  tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs
  temperature reasoning usage max_output_tokens max_tool_calls store background service_tier metadata
  safety_identifier prompt_cache_key
`;
const call = (city: string): JobEvent[] => [
  { type: 'tool_call', name: 'weather' },
  { type: 'tool_arguments', text: '{"city":' },
  { type: 'tool_arguments', text: `"${city}"}` },
];
const lastJob = (): GenerateJob => {
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate') throw new Error('not a chat job');
  return job;
};
const lastTurns = () => {
  const { prompt } = lastJob();
  return prompt.kind === 'chat' ? prompt.turns : [];
};

describe('an answer', () => {
  it('is a response with a message', async () => {
    const { status, body, headers } = await ask({ metadata: { a: 'b' } });
    verifies(['responses.route', 'responses.body', 'responses.message'], () => {
      expect(status).toBe(200);
      expect(body).toMatchObject({
        object: 'response',
        status: 'completed',
        model: installed.chat,
        error: null,
      });
      expect(body.output).toEqual([
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello there.', annotations: [], logprobs: [] }],
        },
      ]);
      expect(body.metadata).toEqual({ a: 'b' });
    });
    verifies('responses.usage', () =>
      expect(body.usage).toEqual({
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10,
      }),
    );
    expect(headers['x-svc-num-ctx']).toBe('4096');
  });

  it('has every member that Open Responses requires', async () => {
    const { description: _, ...undescribed } = weather;
    const { body } = await ask({
      temperature: 0.5,
      top_p: null,
      safety_identifier: 'person',
      prompt_cache_key: 'key',
      tools: [{ ...undescribed, strict: undefined }, patch],
    });
    service.engine.plays(answer('{}'));
    const format = { type: 'json_schema', name: 'x', schema: { type: 'object' } };
    const formatted = (await ask({ text: { format } })).body;
    verifies('responses.body', () => {
      expect(Object.keys(body)).toEqual(expect.arrayContaining(OPEN_RESPONSES_MEMBERS.trim().split(/\s+/)));
      expect(body).toMatchObject({
        temperature: 0.5,
        top_p: 0.95,
        presence_penalty: 0,
        frequency_penalty: 0,
        safety_identifier: 'person',
        prompt_cache_key: 'key',
        tools: [{ ...undescribed, description: null, strict: null }, patch],
      });
      expect(formatted.text.format).toEqual({ ...format, description: null, strict: null });
      expect(body.completed_at).toBeGreaterThanOrEqual(body.created_at);
    });
  });

  it('is incomplete where a limit cut it', async () => {
    service.engine.plays([started(), text('a'), done('length')]);
    const { body } = await ask({ max_output_tokens: 1 });
    verifies('responses.status', () => {
      expect(body).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        completed_at: null,
      });
      expect(body.output[0].status).toBe('incomplete');
      expect(lastJob().maxTokens).toBe(1);
    });
  });

  it('holds thinking, several calls and free text', async () => {
    service.engine.plays([
      started(),
      { type: 'reasoning', text: 'hm' },
      text('Look:'),
      ...call('Oslo'),
      ...call('Rome'),
      { type: 'tool_call', name: 'patch' },
      { type: 'tool_arguments', text: '{"input":"*** a\\n+b"}' },
      done('tool_calls'),
    ]);
    const { body, headers } = await ask({
      tools: [weather, patch],
      include: ['reasoning.encrypted_content'],
    });
    const [thinking, message, oslo, rome, custom] = body.output;
    verifies(['responses.reasoning', 'responses.encrypted'], () =>
      expect(thinking).toMatchObject({
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hm' }],
        encrypted_content: expect.stringMatching(/^svc1\./),
      }),
    );
    verifies(['responses.function-call', 'responses.parallel'], () => {
      expect(message.content[0].text).toBe('Look:');
      expect(oslo).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{"city":"Oslo"}' });
      expect(rome.call_id).not.toBe(oslo.call_id);
      expect(lastJob().maxCalls).toBe(64);
    });
    verifies('responses.custom', () =>
      expect(custom).toMatchObject({ type: 'custom_tool_call', name: 'patch', input: '*** a\n+b' }),
    );
    expect(headers['x-svc-ignored-params']).toBe('tools[1].format');
  });
});

describe('a conversation', () => {
  it('is read from items', async () => {
    const sealed = `svc1.${Buffer.from('hm').toString('base64url')}`;
    await ask({
      instructions: 'Be brief.',
      tools: [weather, patch],
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
        { role: 'user', content: 'Cold?' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'b', output: 'done' },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'cold' }] },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'so' }] },
        { type: 'message', role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'Thanks' },
      ],
    });
    verifies(
      ['responses.roles', 'responses.instructions', 'responses.function-call', 'responses.reasoning'],
      () =>
        expect(lastTurns()).toEqual([
          { role: 'system', content: 'Be brief.\n\nBe kind.' },
          { role: 'user', content: 'Cold?' },
          {
            role: 'assistant',
            content: 'I look.',
            reasoning: 'hm',
            toolCalls: [
              { id: 'a', name: 'weather', argumentsJson: '{"city":"Oslo"}' },
              { id: 'b', name: 'patch', argumentsJson: '{"input":"x"}' },
            ],
          },
          { role: 'tool', content: 'cold', toolCallId: 'a', name: 'weather' },
          { role: 'tool', content: 'done', toolCallId: 'b', name: 'patch' },
          { role: 'assistant', content: 'Yes.', reasoning: 'so' },
          { role: 'user', content: 'Thanks' },
        ]),
    );
  });

  it.each([
    ['auto', { mode: 'auto' }],
    ['none', { mode: 'none' }],
    ['required', { mode: 'required' }],
    [
      { type: 'function', name: 'weather' },
      { mode: 'named', name: 'weather' },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'weather' }] },
      { mode: 'required' },
    ],
  ])('chooses tools by %j', async (tool_choice, mode) => {
    service.engine.plays([started(), ...call('Oslo'), done('tool_calls')]);
    await ask({ tools: [weather, patch], tool_choice, parallel_tool_calls: false });
    verifies(['responses.tool-choice', 'responses.parallel'], () => {
      expect(lastJob().toolChoice).toEqual(mode);
      expect(lastJob().maxCalls).toBe(1);
    });
    const allowed = typeof tool_choice === 'object' && 'tools' in tool_choice ? 1 : 2;
    expect(lastJob().tools).toHaveLength(allowed);
  });

  it('may ask for JSON', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    service.engine.plays(answer('{"n":5}'), answer('{}'));
    const { body } = await ask({
      text: { format: { type: 'json_schema', name: 'x', strict: true, schema } },
    });
    verifies('responses.format', () => {
      expect(lastJob().format).toEqual({ kind: 'json_schema', schema });
      expect(body.text.format.name).toBe('x');
    });
    await ask({ text: { format: { type: 'json_object' } } });
    expect(lastJob().format).toEqual({ kind: 'json_object' });
  });

  it('leaves out tools of the provider that an agent sends beside its own, by name', async () => {
    const { headers } = await ask({
      tools: [
        { type: 'web_search' },
        weather,
        { type: 'namespace', name: 'n', tools: [{ ...weather, name: 'w2' }] },
      ],
      prompt_cache_key: 'k',
      truncation: 'auto',
      reasoning: { effort: null, summary: 'auto' },
      text: { verbosity: 'low' },
    });
    verifies('responses.hosted', () =>
      expect(headers['x-svc-ignored-params']).toBe(
        'reasoning.summary,text.verbosity,truncation,tools[0].web_search,prompt_cache_key',
      ),
    );
    expect(lastJob().tools.map(({ name }) => name)).toEqual(['weather', 'w2']);
  });

  it('may have tools in namespaces, two of one name among them', async () => {
    const within = (name: string) => ({ type: 'namespace', name, tools: [{ ...weather, strict: false }] });
    const fields = { tools: [within('north'), within('south')], store: false };
    service.engine.plays([
      started(),
      ...call('Oslo'),
      { type: 'tool_call', name: 'south__weather' },
      { type: 'tool_arguments', text: '{"city":"Rome"}' },
      done('tool_calls'),
    ]);
    const { output } = (await ask(fields)).body;
    verifies('responses.function-call', () =>
      expect(output).toMatchObject([
        { name: 'weather', namespace: 'north' },
        { name: 'weather', namespace: 'south', arguments: '{"city":"Rome"}' },
      ]),
    );
    await ask({ ...fields, input: [{ role: 'user', content: 'x' }, ...output] });
    expect(lastTurns()[1]?.toolCalls?.map(({ name }) => name)).toEqual(['weather', 'south__weather']);
  });

  it('is counted without being answered', async () => {
    service.engine.plays([
      {
        type: 'explained',
        renderedPrompt: 'Hello',
        promptTokens: 17,
        cachedTokens: 0,
        sequence: null,
        numCtx: 8,
        toolFormat: 'none',
      },
    ]);
    const { body } = await service.client.post(`${path}/input_tokens`, { model: 'default', input: 'Hello' });
    verifies('responses.input-tokens', () =>
      expect(body).toEqual({ object: 'response.input_tokens', input_tokens: 17 }),
    );
  });
});

describe('a stored response', () => {
  it('can be read, continued, listed and deleted', async () => {
    const first = (await ask({ input: 'One', instructions: 'Old.' })).body;
    const second = (await ask({ input: 'Two', previous_response_id: first.id })).body;
    verifies('responses.previous', () =>
      expect(lastTurns()).toEqual([
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Hello there.' },
        { role: 'user', content: 'Two' },
      ]),
    );
    const read = await service.client.get(`${path}/${first.id}`);
    const listed = (await service.client.get(`${path}/${second.id}/input_items?limit=2`)).body;
    const rest = (await service.client.get(`${path}/${second.id}/input_items?after=${listed.last_id}`)).body;
    verifies('responses.input-items', () => {
      expect(listed.data.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
      expect(listed.has_more).toBe(true);
      expect(rest.data.map(({ role }: { role: string }) => role)).toEqual(['user']);
      expect(rest.has_more).toBe(false);
    });
    const deleted = await service.client.ask({ method: 'DELETE', path: `${path}/${first.id}` });
    const gone = await service.client.get(`${path}/${first.id}`);
    verifies('responses.store', () => {
      expect(read.body).toEqual(first);
      expect(deleted.body).toEqual({ id: first.id, object: 'response', deleted: true });
    });
    verifies('responses.missing', () =>
      expect([gone.status, gone.body.error.code]).toEqual([404, 'response_not_found']),
    );
    // What it led to stands by itself.
    expect((await ask({ previous_response_id: second.id })).status).toBe(200);
  });

  it('is seen by its own key only', async () => {
    const { key } = await addKey(keyed.home, { name: 'other', admin: true, localOnly: false }, Date.now());
    const headers = { authorization: `Bearer ${key}` };
    const asked = { model: 'default', input: 'Hello' };
    const { id } = (await keyed.client.post(path, asked)).body;
    for (const [method, at] of [
      ['GET', ''],
      ['GET', '/input_items'],
      ['DELETE', ''],
      ['POST', '/cancel'],
    ] as const) {
      const { status } = await keyed.client.ask({ method, path: `${path}/${id}${at}`, headers });
      expect([method, at, status]).toEqual([method, at, 404]);
    }
    const other = await keyed.client.post(path, { ...asked, previous_response_id: id }, headers);
    expect([other.status, other.body.error.param]).toEqual([404, 'previous_response_id']);
    expect((await keyed.client.get(`${path}/${id}`)).status).toBe(200);
  });

  it('is none where the request says so', async () => {
    const { id, store } = (await ask({ store: false })).body;
    expect(store).toBe(false);
    const { status } = await service.client.get(`${path}/${id}`);
    verifies(['responses.store', 'responses.missing'], () => expect(status).toBe(404));
  });

  it('is none where the operator says so', async () => {
    const forgetful = await startScripted({ storeResponses: false });
    try {
      const post = (fields: object) =>
        forgetful.client.post(path, { model: 'default', input: 'x', ...fields });
      const { body, headers } = await post({ store: true });
      expect([body.store, headers['x-svc-ignored-params']]).toEqual([false, 'store']);
      const later = await post({ previous_response_id: body.id });
      expect([later.status, later.body.error.code]).toEqual([404, 'responses_not_kept']);
    } finally {
      await forgetful.close();
    }
  });

  it('is made in the background where the request says so', async () => {
    const waiting = gate();
    service.engine.plays([started(), waiting.opened, text('42'), done()]);
    const queued = await ask({ background: true });
    expect([queued.body.status, queued.body.background, queued.headers['x-svc-num-ctx']]).toEqual([
      'queued',
      true,
      undefined,
    ]);
    const at = `${path}/${queued.body.id}`;
    const early = await ask({ previous_response_id: queued.body.id });
    expect([early.status, early.body.error.param]).toEqual([400, 'previous_response_id']);
    const running = (await service.client.get(at)).body;
    verifies('responses.background', () => expect(running.status).toBe('in_progress'));
    waiting.open();
    await expect.poll(async () => (await service.client.get(at)).body.status).toBe('completed');
    const { body } = await service.client.get(at);
    expect(body.output[0].content[0].text).toBe('42');
    expect((await ask({ previous_response_id: body.id })).status).toBe(200);
  });

  it('in the background can be cancelled, and tells its failure', async () => {
    service.engine.plays([started(), gate().opened]);
    const { id } = (await ask({ background: true })).body;
    // As clients do that name a type with every POST, and have nothing to send.
    const headers = { 'content-type': 'application/json' };
    const { body } = await service.client.ask({ method: 'POST', path: `${path}/${id}/cancel`, headers });
    expect(body.status).toBe('cancelled');
    await expect.poll(async () => (await service.client.get(`${path}/${id}`)).body.status).toBe('cancelled');
    service.engine.plays([started(), fail('worker_hung', { model: 'm', reason: 'silent' })]);
    const failed = (await ask({ background: true })).body.id;
    await expect
      .poll(async () => (await service.client.get(`${path}/${failed}`)).body)
      .toMatchObject({ status: 'failed', error: { code: 'worker_hung' } });
  });

  it('in the background is failed where the process that made it has ended', async () => {
    const waiting = gate();
    service.engine.plays([started(), waiting.opened]);
    const { id } = (await ask({ background: true })).body;
    const next = await startScripted();
    try {
      await cp(pathIn(service.home), pathIn(next.home), { recursive: true });
      const { status, body } = await next.client.get(`${path}/${id}`);
      verifies('responses.background-lost', () => {
        expect([status, body.status, body.error.code, body.output]).toEqual([
          200,
          'failed',
          'server_error',
          [],
        ]);
        expect(body.error.message).toContain('send the request again');
      });
      const cancelled = await next.client.ask({ method: 'POST', path: `${path}/${id}/cancel` });
      expect([cancelled.status, cancelled.body.error.message]).toEqual([
        400,
        expect.stringContaining('is failed'),
      ]);
    } finally {
      waiting.open();
      await next.close();
    }
  });

  it('in the background is stopped when it is deleted, and does not come back', async () => {
    service.engine.plays([started(), gate().opened]);
    const { id } = (await ask({ background: true })).body;
    const { aborted } = service.engine.lastJob;
    expect((await service.client.ask({ method: 'DELETE', path: `${path}/${id}` })).status).toBe(200);
    await aborted;
    expect((await service.client.get(`${path}/${id}`)).status).toBe(404);
  });

  it('that is over cannot be cancelled', async () => {
    const { id } = (await ask()).body;
    const { status, body } = await service.client.ask({ method: 'POST', path: `${path}/${id}/cancel` });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('is completed')]);
  });
});

describe('a model that is not installed', () => {
  it('is answered for by the default one where the operator allows it, and the header names it', async () => {
    const lenient = await startScripted({ unknownModelIsDefault: true });
    try {
      for (const [route, rest] of [
        [path, { input: 'x' }],
        ['/v1/messages', { max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }],
        ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }],
      ] as const) {
        const { body, headers } = await lenient.client.post(route, { model: 'gpt-99-codex', ...rest });
        expect([body.model, headers['x-svc-substituted-model']]).toEqual([installed.chat, installed.chat]);
        const known = await lenient.client.post(route, { model: 'default', ...rest });
        expect(known.headers['x-svc-substituted-model']).toBeUndefined();
      }
    } finally {
      await lenient.close();
    }
    expect((await ask({ model: 'gpt-99-codex' })).status).toBe(404);
  });
});
