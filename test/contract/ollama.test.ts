/** Ollama's API in its shapes: chat, texts, vectors, and what its clients ask and change of models. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { answer, done, queued, type Script, started, text } from '../support/http/scripted-engine.ts';
import { installed, PAGE_TOKEN, scriptedService } from '../support/http/scripted-service.ts';
import { checkFrame } from '../support/http/schema-check.ts';

const service = scriptedService();
const user = { role: 'user', content: 'Hello' };
const asked = { model: installed.chat, messages: [user] };
const chat = (fields: object = {}) =>
  service.client.post('/api/chat', { ...asked, stream: false, ...fields });
const generate = (fields: object = {}) =>
  service.client.post('/api/generate', { model: installed.chat, prompt: 'Once', stream: false, ...fields });
const job = () => service.engine.lastJob.submission.job as GenerateJob;
const ignored = ({ headers }: Awaited<ReturnType<typeof chat>>) =>
  String(headers['x-svc-ignored-params'] ?? '');
const tool = {
  type: 'function',
  function: { name: 'sum', parameters: { type: 'object', properties: { n: { type: 'number' } } } },
};
const call = (json: string): JobEvent[] => [
  { type: 'tool_call', name: 'sum' },
  { type: 'tool_arguments', text: json },
];
const stats = {
  done: true,
  done_reason: 'stop',
  total_duration: expect.any(Number),
  load_duration: expect.any(Number),
  prompt_eval_count: 7,
  prompt_eval_duration: expect.any(Number),
  eval_count: 2,
  eval_duration: expect.any(Number),
};

/** The lines of a stream, each a value of its own. */
async function lines(script: Script, fields: object = {}, path = '/api/chat') {
  service.engine.plays(script);
  const body = path === '/api/chat' ? asked : { model: installed.chat, prompt: 'Once' };
  const { status, text: sent, headers } = await service.client.post(path, { ...body, ...fields });
  expect([status, headers['content-type'], sent.endsWith('\n')]).toEqual([200, 'application/x-ndjson', true]);
  return sent
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const value = JSON.parse(line);
      checkFrame(path, value);
      return value;
    });
}

describe('a chat', () => {
  it('streams lines of JSON unless it is asked not to', async () => {
    const script = [queued(1), started(), { type: 'reasoning', text: 'hm' }, text('Lo'), text('ok'), done()];
    const sent = await lines(script as JobEvent[]);
    expect(sent.map(({ message, done: isDone }) => [message, isDone])).toEqual([
      [{ role: 'assistant', content: '', thinking: 'hm' }, false],
      [{ role: 'assistant', content: 'Lo' }, false],
      [{ role: 'assistant', content: 'ok' }, false],
      [{ role: 'assistant', content: '' }, true],
    ]);
    expect(sent.at(-1)).toMatchObject({ model: installed.chat, ...stats });
    expect(Date.parse(sent[0].created_at)).toBeGreaterThan(0);
  });

  it('answers as a whole with the same words', async () => {
    service.engine.plays([started(), { type: 'reasoning', text: 'hm' }, text('Lo'), text('ok'), done()]);
    const { body, headers } = await chat();
    expect(body).toEqual({
      model: installed.chat,
      created_at: expect.any(String),
      message: { role: 'assistant', content: 'Look', thinking: 'hm' },
      ...stats,
    });
    expect(headers['x-svc-num-ctx']).toBeDefined();
  });

  it('measures in nanoseconds, and waits for a model before it evaluates', async () => {
    service.engine.plays([
      started(),
      text('x'),
      { ...done(), timings: { prefillMs: 1.5, decodeMs: 20 } } as JobEvent,
    ]);
    const { body } = await chat();
    expect(body).toMatchObject({ prompt_eval_duration: 1_500_000, eval_duration: 20_000_000 });
    expect(body.load_duration).toBeLessThanOrEqual(body.total_duration);
  });

  it('says that a limit cut it', async () => {
    service.engine.plays([started(), text('x'), done('length')]);
    expect((await chat()).body.done_reason).toBe('length');
  });

  it('takes the options by their names and names those without effect', async () => {
    const answered = await chat({
      options: {
        num_predict: 9,
        num_ctx: 512,
        temperature: 0.5,
        seed: 3,
        stop: ['.'],
        top_k: 4,
        top_p: 0.5,
        min_p: 0.1,
        typical_p: 0.9,
        repeat_penalty: 1.2,
        repeat_last_n: 8,
        num_gpu: 1,
        mirostat: 2,
      },
      keep_alive: '7m',
      truncate: true,
    });
    expect(answered.status).toBe(200);
    expect(job()).toMatchObject({
      maxTokens: 9,
      stop: ['.'],
      sampling: { temperature: 0.5, seed: 3, topK: 4, topP: 0.5, minP: 0.1, typicalP: 0.9, repeatLastN: 8 },
    });
    expect(service.engine.lastJob.submission).toMatchObject({ numCtx: 512, keepAliveMs: 420_000 });
    expect(ignored(answered).split(',').toSorted()).toEqual([
      'options.mirostat',
      'options.num_gpu',
      'truncate',
    ]);
  });

  it.each([
    [{ num_predict: -1 }, { maxTokens: null }],
    [{ num_predict: -2 }, { maxTokens: null }],
    [{ num_predict: 0 }, { maxTokens: null }],
    [{ repeat_last_n: -1 }, { sampling: { repeatLastN: 65_536 } }],
    [{ repeat_last_n: 0, repeat_penalty: 2 }, { sampling: { repeatPenalty: 1, presencePenalty: 0 } }],
  ])('reads the options %j as Ollama does', async (options, expected) => {
    expect((await chat({ options })).status).toBe(200);
    expect(job()).toMatchObject(expected);
  });

  it('calls tools with objects, and keeps how their numbers are spelled', async () => {
    const script = [
      started(),
      ...call('{"n":1.0}'),
      ...call('{"n":12345678901234567890}'),
      done('tool_calls'),
    ];
    service.engine.plays(script);
    const whole = await chat({ tools: [tool] });
    expect(whole.body).toMatchObject({ done_reason: 'stop', message: { content: '' } });
    expect(whole.text).toContain('"arguments":{"n":1.0}');
    expect(whole.text).toContain('"arguments":{"n":12345678901234567890}');
    const streamed = await lines(script, { tools: [tool] });
    const calls = streamed.flatMap(({ message }) => message.tool_calls ?? []);
    expect(calls.map(({ function: { index, name } }) => [index, name])).toEqual([
      [0, 'sum'],
      [1, 'sum'],
    ]);
    expect(calls.map(({ id }) => id)).toEqual(
      whole.body.message.tool_calls.map(({ id }: { id: string }) => id),
    );
  });

  it('reads calls without ids, and gives each result its call by name and order', async () => {
    const named = (name: string, json: string) => `{"function":{"name":"${name}","arguments":${json}}}`;
    const calls = [named('sum', '{"n":1.0}'), named('time', '{}'), named('sum', '{"n":2}')].join(',');
    const messages = `[{"role":"user","content":"?"},{"role":"assistant","tool_calls":[${calls}]},
      {"role":"tool","tool_name":"time","content":"noon"},{"role":"tool","tool_name":"sum","content":"1"},
      {"role":"tool","content":"2"}]`;
    const { status } = await service.client.ask({
      method: 'POST',
      path: '/api/chat',
      body: `{"model":"${installed.chat}","stream":false,"messages":${messages}}`,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(200);
    const { turns } = job().prompt as Extract<GenerateJob['prompt'], { kind: 'chat' }>;
    expect(turns[1]?.toolCalls?.map(({ name, argumentsJson }) => [name, argumentsJson])).toEqual([
      ['sum', '{"n":1.0}'],
      ['time', '{}'],
      ['sum', '{"n":2}'],
    ]);
    // In the order of the calls.
    expect(turns.slice(2).map(({ name, content }) => [name, content])).toEqual([
      ['sum', '1'],
      ['time', 'noon'],
      ['sum', '2'],
    ]);
    const ids = turns[1]?.toolCalls?.map(({ id }) => id);
    expect(turns.slice(2).map(({ toolCallId }) => toolCallId)).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });

  it('follows a schema, or is any JSON', async () => {
    service.engine.plays(answer('{"a":', '1}'));
    const format = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    expect((await chat({ format })).body.message.content).toBe('{"a":1}');
    expect(job().format).toMatchObject({ kind: 'json_schema', schema: format });
    service.engine.plays(answer('{}'));
    await chat({ format: 'json' });
    expect(job().format).toEqual({ kind: 'json_object' });
    await chat({ format: '' });
    expect(job().format).toEqual({ kind: 'text' });
  });

  it.each([
    [true, { enabled: true }],
    [false, { enabled: false }],
    ['high', { enabled: true, effort: 'high' }],
    [null, {}],
  ])('reads think %j', async (think, expected) => {
    expect((await chat({ think })).status).toBe(200);
    expect(job().reasoning).toEqual(expected);
  });

  it('names think where the model cannot', async () => {
    expect(ignored(await chat({ think: true }))).toBe('think');
    expect(ignored(await chat({ think: false }))).toBe('');
  });

  it('goes on behind a last message of the assistant', async () => {
    await chat({ messages: [user, { role: 'assistant', content: 'I' }] });
    expect(job().prompt).toMatchObject({ kind: 'chat', continues: true });
  });

  it("finds a model under Ollama's default tag", async () => {
    expect((await chat({ model: `${installed.chat}:latest` })).body.model).toBe(installed.chat);
  });
});

describe('a refusal', () => {
  const image = { ...user, images: ['iVBORw0KGgo='] };
  it.each([
    ['another model', { model: 'nobody' }, 404, /"nobody"/],
    ['an image', { messages: [image] }, 400, /^messages\[0\]\.images\[0\] is an image; send text/],
    ['another format', { format: 'xml' }, 400, /^format must be "json" or a JSON Schema/],
    [
      'a schema that is none',
      { format: { type: 'nothing' } },
      400,
      /^The schema at format\.type is not usable/,
    ],
    ['another think', { think: 'much' }, 400, /^think must be/],
    ['an option', { options: { temperature: 'hot' } }, 400, /^options\.temperature must be a number/],
    [
      'arguments as text',
      { messages: [user, { role: 'assistant', tool_calls: [{ function: { name: 'a', arguments: '{}' } }] }] },
      400,
      /^messages\[1\]\.tool_calls\[0\]\.function\.arguments must be an object/,
    ],
    [
      'a tool without a name',
      { tools: [{ type: 'function', function: {} }] },
      400,
      /^tools\[0\]\.function\.name/,
    ],
    ['a role', { messages: [{ role: 'boss', content: '' }] }, 400, /^messages\[0\]\.role must be one of/],
  ])('of %s is a sentence in `error`, streamed or not', async (_, fields, status, sentence) => {
    for (const stream of [true, false]) {
      const answered = await chat({ ...fields, stream });
      expect([answered.status, answered.headers['content-type']]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
      expect(answered.body.error).toMatch(sentence);
    }
  });

  it('after the head is a last line, and the transfer does not end', async () => {
    service.engine.plays([started(), text('x'), fail('internal')]);
    const response = await fetch(`${service.url}/api/chat`, {
      method: 'POST',
      body: JSON.stringify(asked),
      headers: { 'content-type': 'application/json' },
    });
    let sent = '';
    const read = async (): Promise<void> => {
      for await (const bytes of response.body ?? []) sent += new TextDecoder().decode(bytes);
    };
    await expect(read()).rejects.toThrow('terminated');
    const values = sent
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(values.map((value) => Object.keys(value)[0])).toEqual(['model', 'error']);
    for (const value of values) checkFrame('/api/chat', value);
  });
});

describe('a generation', () => {
  it('is the message of a user behind a system prompt', async () => {
    service.engine.plays(answer('Lo', 'ok'));
    const { body } = await generate({ system: 'Be brief.', template: 'x' });
    expect(body).toEqual({
      model: installed.chat,
      created_at: expect.any(String),
      response: 'Look',
      ...stats,
    });
    const turns = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Once' },
    ];
    expect(job().prompt).toEqual({ kind: 'chat', turns });
  });

  it('streams', async () => {
    const sent = await lines(answer('Lo', 'ok'), {}, '/api/generate');
    expect(sent.map(({ response, done: isDone }) => [response, isDone])).toEqual([
      ['Lo', false],
      ['ok', false],
      ['', true],
    ]);
  });

  it('continues a text that is raw, or fills a gap', async () => {
    const answered = await generate({ raw: true, system: 'x', template: 'y' });
    expect(job().prompt).toEqual({ kind: 'text', text: 'Once', readsMarks: true });
    expect(ignored(answered).split(',').toSorted()).toEqual(['system', 'template']);
    await generate({ suffix: 'end' });
    expect(job().prompt).toEqual({ kind: 'text', text: 'Once', suffix: 'end' });
  });

  it('refuses the tokens of an earlier answer', async () => {
    const { status, body } = await generate({ context: [1] });
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/^context must be empty; .*\/api\/chat/),
    ]);
  });
});

describe.each([
  ['/api/chat', { message: { role: 'assistant', content: '' } }],
  ['/api/generate', { response: '' }],
])('nothing to answer at %s', (path, words) => {
  const empty = (fields: object) =>
    service.client.post(path, { model: installed.chat, stream: false, ...fields });

  it('loads the model', async () => {
    const { body } = await empty({ keep_alive: '5m', options: { num_ctx: 256 } });
    expect(body).toMatchObject({ ...words, done: true, done_reason: 'load' });
    expect(service.engine.lastJob.submission).toMatchObject({
      job: { kind: 'explain' },
      keepAliveMs: 300_000,
      numCtx: 256,
    });
    const { text: line } = await empty({ stream: true });
    expect(JSON.parse(line)).toMatchObject({ ...words, done_reason: 'load' });
  });

  it('unloads one that is loaded, and loads none for it', async () => {
    const before = service.engine.played.length;
    service.engine.isLoaded = false;
    expect((await empty({ keep_alive: 0 })).body.done_reason).toBe('unload');
    expect(service.engine.played).toHaveLength(before);
    service.engine.isLoaded = true;
    expect((await empty({ keep_alive: 0 })).body.done_reason).toBe('unload');
    expect(service.engine.lastJob.submission.keepAliveMs).toBe(0);
  });
});

describe('vectors', () => {
  const embed = (fields: object) =>
    service.client.post('/api/embed', { model: 'default-embedding', ...fields });

  it('come in order, for one text and for several', async () => {
    const { body, headers } = await embed({ input: ['a', 'b'] });
    expect(body.embeddings).toHaveLength(2);
    const width = body.embeddings[0].length;
    expect(body.embeddings.map((vector: number[]) => vector.length)).toEqual([width, width]);
    expect(body).toMatchObject({ total_duration: expect.any(Number), prompt_eval_count: expect.any(Number) });
    expect(headers['x-svc-embed-backend']).toBe('native');
    expect((await embed({ input: 'a' })).body.embeddings).toEqual([body.embeddings[0]]);
  });

  it('are as wide as the model makes them', async () => {
    const shown = await service.client.post('/api/show', { model: installed.embedding });
    const info = shown.body.model_info;
    const width = info[`${info['general.architecture']}.embedding_length`];
    expect((await embed({ input: 'a' })).body.embeddings[0]).toHaveLength(width);
  });

  it('are cut to the window unless that is refused', async () => {
    await embed({ input: 'a' });
    expect(service.engine.lastJob.submission.job).toMatchObject({ truncate: true });
    await embed({ input: 'a', truncate: false });
    expect(service.engine.lastJob.submission.job).toMatchObject({ truncate: false });
  });

  it('of nothing are none, and the model is loaded', async () => {
    for (const input of ['', []]) {
      const before = service.engine.played.length;
      expect((await embed({ input })).body).toMatchObject({ embeddings: [], prompt_eval_count: 0 });
      expect(service.engine.played).toHaveLength(before + 1);
    }
  });

  it('have an older route for one text', async () => {
    const { body } = await embed({ input: 'a' });
    const answered = await service.client.post('/api/embeddings', {
      model: 'default-embedding',
      prompt: 'a',
      options: { temperature: 1 },
    });
    expect(answered.body).toEqual({ embedding: body.embeddings[0] });
    expect(answered.headers['x-svc-ignored-params']).toBe('options.temperature');
  });
});

describe('models', () => {
  it('are shown under either name of the field, with what clients ask for', async () => {
    const { body } = await service.client.post('/api/show', { model: `${installed.chat}:latest` });
    expect(body.capabilities).toEqual(['completion', 'tools']);
    const architecture = body.model_info['general.architecture'];
    expect(body.model_info).toMatchObject({
      'general.basename': installed.chat,
      [`${architecture}.context_length`]: expect.any(Number),
    });
    expect((await service.client.post('/api/show', { name: installed.chat })).body).toEqual(body);
    expect(
      (await service.client.post('/api/show', { model: installed.embedding })).body.capabilities,
    ).toEqual(['embedding']);
    expect((await service.client.post('/api/show', { model: 'nobody' })).status).toBe(404);
    expect((await service.client.post('/api/show', {})).body.error).toMatch(/^model is required/);
  });

  it("are shown with all that VS Code's provider reads: a window that holds, and the template in use", async () => {
    const shown = async () => (await service.client.post('/api/show', { model: installed.chat })).body;
    const before = await shown();
    expect(before.template).toContain('<|im_start|>');
    expect((await service.client.post('/api/show', { model: installed.embedding })).body.template).toBe('');
    const set = async (settings: object) => {
      const headers = { 'x-svc-page-token': PAGE_TOKEN };
      const body = { model: installed.chat, settings };
      const { status, text: said } = await service.client.post('/svc/models/settings', body, headers);
      expect(status, said).toBe(200);
    };
    await set({ num_ctx: '128', template: 'alpaca' });
    const after = await shown();
    const { 'general.architecture': architecture } = after.model_info;
    expect(after.model_info[`${architecture}.context_length`]).toBe(128);
    expect(after.template).toContain('### Instruction:');
    await set({ num_ctx: null, template: '{{ messages[0].content }} of mine' });
    expect((await shown()).template).toBe('{{ messages[0].content }} of mine');
    await set({ template: null });
    expect(await shown()).toEqual({ ...before, modified_at: expect.any(String) });
  });

  it('have a version of the API that VS Code accepts', async () => {
    const { body } = await service.client.get('/api/version');
    const [major, minor] = body.version.split('.').map(Number);
    expect(major > 0 || minor > 6).toBe(true);
  });

  it('are copied and removed, by who may', async () => {
    const page = { 'x-svc-page-token': PAGE_TOKEN };
    const copy = { source: installed.chat, destination: 'other' };
    const remove = (headers: Record<string, string>) =>
      service.client.ask({ method: 'DELETE', path: '/api/delete', body: { model: 'other' }, headers });
    expect((await service.client.post('/api/copy', copy)).status).toBe(403);
    expect((await service.client.post('/api/copy', copy, page)).body).toEqual({ status: 'success' });
    expect((await chat({ model: 'other' })).body.model).toBe('other');
    expect((await remove({})).status).toBe(403);
    expect((await remove(page)).body).toEqual({ status: 'success' });
    expect((await remove(page)).status).toBe(404);
    expect((await chat({ model: 'other' })).status).toBe(404);
    expect((await service.client.post('/api/pull', { model: 'acme/nothing' })).status).toBe(403);
  });
});
