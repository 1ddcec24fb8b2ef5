/** A model of an upstream behind the whole interface, and every way in which an upstream can fail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';
import { type EngineService, knownModel, startEngines } from '../support/upstream/service.ts';

let upstream: ScriptedUpstream;
let engines: EngineService;
const KEY = 'sk-upstream-secret';

const FAULTS = [
  ['reset-at-once', 503, 'upstream_unreachable'],
  ['wrong-type', 503, 'upstream_broken'],
  ['gzip', 503, 'upstream_broken'],
  ['redirect', 503, 'upstream_broken'],
  ['busy-429', 429, 'upstream_busy'],
  ['busy-503', 429, 'upstream_busy'],
  ['bad-500', 503, 'upstream_failed'],
  ['refuses-400', 400, 'upstream_refused'],
  ['denies-401', 503, 'upstream_denied'],
  ['too-long', 400, 'context_length_exceeded'],
  ['gone-404', 404, 'upstream_model_gone'],
  ['silent', 503, 'upstream_timeout'],
  ['head-only', 503, 'upstream_timeout'],
  ['reset', 503, 'upstream_broken'],
  ['ends-early', 503, 'upstream_broken'],
  ['broken-json', 503, 'upstream_broken'],
  ['words-and-rubbish', 503, 'upstream_broken'],
  ['goes-on', 503, 'upstream_broken'],
  ['endless-line', 503, 'upstream_broken'],
  ['error-frame', 503, 'upstream_failed'],
  ['hung', 503, 'upstream_timeout'],
] as const;
/** What the error says beside the name of the upstream, or in its place. */
const WORDS: Readonly<Record<string, string>> = {
  'too-long': '900',
  gzip: 'it is compressed',
  redirect: 'it redirects',
  'endless-line': 'one of its events has more than',
  'ends-early': 'without a finish reason',
  'goes-on': 'behind its finish reason',
};
const MIDSTREAM = ['reset', 'ends-early', 'broken-json', 'goes-on', 'error-frame', 'hung'];
const GOOD = [
  'good',
  'slow',
  'wrong-ids',
  'calls-tool',
  'calls-badly',
  'thinks',
  'mirror',
  'flood',
  'leaks-key',
  'reset-when-kept',
];
const names = [...FAULTS.map(([name]) => name), ...GOOD, 'embed-384', 'embed-768', 'embed-1024', 'embed-nan'];

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = names;
  engines = await startEngines({ BOX_KEY: KEY });
  const baseUrl = `${upstream.url}/v1`;
  await engines.add({ name: 'box', baseUrl, keyEnv: 'BOX_KEY', aliases: { Fox: 'good' } }, names);
  await engines.add({ name: 'short', baseUrl, deadlines: { firstByteMs: 250, stallMs: 250 } }, names);
  await engines.add({ name: 'stalls', baseUrl, deadlines: { stallMs: 250 } }, names);
  await engines.add({ name: 'keyless', baseUrl }, names);
});

afterAll(async () => {
  await engines.close();
  await upstream.close();
});

const chat = (model: string, fields: object = {}, headers: Record<string, string> = {}) =>
  engines.service.client.chat({ model, messages: [{ role: 'user', content: 'Go.' }], ...fields }, headers);
const stream = (model: string, fields: object = {}) =>
  engines.service.client.streamChat({ model, messages: [{ role: 'user', content: 'Go.' }], ...fields });
const mirrored = async (fields: object = {}, headers: Record<string, string> = {}) => {
  const { body } = await chat('box/mirror', fields, headers);
  return JSON.parse(body.choices[0].message.content);
};
const TALE = 'Once upon a time there was a fox.';

describe('a model of an upstream', () => {
  it('is listed with its owner and engine, under its id and aliases', async () => {
    const { body } = await engines.service.client.get('/v1/models');
    const found = body.data.find(({ id }: { id: string }) => id === 'box/good');
    expect(found).toMatchObject({
      owned_by: 'box',
      engine: 'remote',
      kind: 'chat',
      aliases: ['Fox'],
      context_length: 4096,
    });
    expect((await engines.service.client.get('/v1/models/fox')).body.id).toBe('box/good');
  });

  it('answers a chat, whole', async () => {
    const { status, headers, body } = await chat('BOX/Good');
    expect([status, headers['x-svc-num-ctx'], body.model]).toEqual([200, '4096', 'box/good']);
    expect(body.id).toMatch(/^chatcmpl-svc-\d+$/);
    expect(body.choices[0]).toMatchObject({ message: { content: TALE }, finish_reason: 'stop' });
    expect(body.usage).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 8,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 2 },
    });
  });

  it('streams under ids of this service, whatever the upstream calls itself', async () => {
    const said = await (await stream('fox')).all();
    expect(said).toMatchObject({ text: TALE, done: true, complete: true });
    const other = await stream('box/wrong-ids');
    expect(other.headers['x-svc-instance-id']).toBe(engines.service.instanceId);
    expect(other.headers['set-cookie']).toBeUndefined();
    expect(await other.all()).toMatchObject({ text: 'hello', done: true });
  });

  it('completes text', async () => {
    const { body } = await engines.service.client.post('/v1/completions', { model: 'box/good', prompt: 'x' });
    expect(body.choices[0].text).toBe(TALE);
  });

  it('can be the default', async () => {
    expect((await chat('default')).body.code).toBe('no_default_model');
    await engines.registry.chooseDefault('chat', 'box/good');
    expect((await chat('default')).body.model).toBe('box/good');
    expect((await engines.service.client.get('/v1/identity')).body.default_model).toBe('box/good');
  });

  it('gives vectors of 768 numbers, or says what is wrong', async () => {
    const embed = (model: string, fields: object = {}) =>
      engines.service.client.embed({ model, input: ['a', 'bc'], ...fields });
    const narrow = await embed('box/embed-384');
    expect([
      narrow.status,
      narrow.body.data[1].embedding.length,
      narrow.headers['x-svc-embed-backend'],
    ]).toEqual([200, 768, 'native']);
    expect((await embed('box/embed-768', { encoding_format: 'base64' })).status).toBe(200);
    const wide = await embed('box/embed-1024');
    expect([wide.status, wide.body.code]).toEqual([400, 'embedding_width']);
    expect((await embed('box/good')).body.code).toBe('wrong_model_kind');
  });

  it('has its tool calls checked, and gets one call at a time', async () => {
    const tools = [
      {
        type: 'function',
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ];
    const { body } = await chat('box/calls-tool', { tools });
    expect(body.choices[0].finish_reason).toBe('tool_calls');
    expect(body.choices[0].message.tool_calls).toMatchObject([
      { function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
    const several = await chat('box/calls-tool', { tools, parallel_tool_calls: true });
    expect(several.body.choices[0].message.tool_calls).toHaveLength(2);
    expect((await chat('box/calls-badly', { tools })).body.code).toBe('answer_invalid');
    const streamed = await (await stream('box/calls-tool', { tools })).all();
    expect(streamed.done).toBe(true);
  });

  it('has its thinking kept apart', async () => {
    const { body } = await chat('box/thinks');
    expect(body.choices[0].message).toMatchObject({ reasoning_content: 'Let me see. ', content: 'Four.' });
  });

  it('is asked in its own words, and what it cannot do is named', async () => {
    const fields = { temperature: 0.5, max_tokens: 7, num_ctx: 512, top_k: 3, stop: ['x'], seed: 4 };
    const { body } = await mirrored(fields);
    expect(body).toMatchObject({
      model: 'mirror',
      temperature: 0.5,
      max_tokens: 7,
      stop: ['x'],
      seed: 4,
      stream: true,
    });
    expect(body).not.toHaveProperty('top_k');
    const { headers } = await chat('box/good', fields);
    expect(headers['x-svc-ignored-params']?.toString().split(/,\s*/).sort()).toEqual(['num_ctx', 'top_k']);
  });

  it('draws its own seed where nobody names one', async () => {
    expect((await mirrored()).body).not.toHaveProperty('seed');
  });

  it('gets images as they are, but no address to fetch', async () => {
    const image = (url: string) => [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url } },
          { type: 'text', text: 'b' },
        ],
      },
    ];
    const png = 'data:image/png;base64,iVBORw0KGgo=';
    const { body } = await mirrored({ messages: image(png) });
    expect(body.messages[0].content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: png } },
      { type: 'text', text: 'b' },
    ]);
    const fetched = await chat('box/mirror', { messages: image('http://169.254.169.254/') });
    expect([fetched.status, fetched.body.param]).toEqual([400, 'messages[0].content[1].image_url']);
  });

  it('gets images of every dialect', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const said = await engines.service.client.post('/v1/messages', {
      model: 'box/mirror',
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: 'a' },
          ],
        },
      ],
    });
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const parts = [
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: 'a' },
    ];
    expect(JSON.parse(said.body.content[0].text).body.messages[0].content).toEqual(parts);
    const content = [
      { type: 'input_image', image_url: url },
      { type: 'input_text', text: 'a' },
    ];
    const response = await engines.service.client.post('/v1/responses', {
      model: 'box/mirror',
      input: [{ type: 'message', role: 'user', content }],
    });
    expect(JSON.parse(response.body.output[0].content[0].text).body.messages[0].content).toEqual(parts);
  });

  it('is refused what only a local model can do', async () => {
    const frozen = await chat('box/good', {}, { 'x-svc-evidence-mode': 'frozen-v1' });
    expect([frozen.status, frozen.body.code]).toEqual([400, 'capability_missing']);
  });
});

describe('what goes to an upstream', () => {
  it('is its own key and nothing of the client', async () => {
    const sent = { authorization: 'Bearer client', cookie: 'a=b', 'x-svc-client-id': 'me' };
    const { headers, authorization } = await mirrored({}, { ...sent, 'x-request-id': 'req-7' });
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(headers).toMatchObject({ 'x-request-id': 'req-7', 'user-agent': 'hearth/test' });
    expect(Object.keys(headers).filter((name) => /^x-svc|cookie/.test(name))).toEqual([]);
    // One without a key of its own gets none, and under no other name.
    const { body } = await chat('keyless/mirror', {}, sent);
    const said = JSON.parse(body.choices[0].message.content);
    expect([said.authorization, JSON.stringify(said).includes('Bearer')]).toEqual([undefined, false]);
  });

  it('never shows in what it is told', async () => {
    const told = await chat('box/leaks-key');
    expect(told.status).toBe(400);
    expect([told.text, engines.service.log()].join()).not.toContain(KEY);
    await chat('box/denies-401');
    expect(engines.service.log()).not.toContain(KEY);
  });

  it('is asked for where the upstream wants one and was given none', async () => {
    expect((await chat('keyless/denies-401')).body.error).toContain('asks for a key (status 401)');
    expect((await chat('box/denies-401')).body.error).toContain("does not accept Hearth's key");
  });

  it('is nothing where its key is missing', async () => {
    await engines.add({ name: 'unset', baseUrl: `${upstream.url}/v1`, keyEnv: 'NOT_SET' }, ['good']);
    const before = upstream.requests.filter(({ path }) => path.includes('chat')).length;
    const { status, body } = await chat('unset/good');
    expect([status, body.code]).toEqual([503, 'upstream_key_missing']);
    expect(upstream.requests.filter(({ path }) => path.includes('chat'))).toHaveLength(before);
  });
});

describe('an upstream that fails', () => {
  it.each(FAULTS)('%s: %i %s', async (name, status, code) => {
    // A busy machine takes longer than the short deadlines for much else.
    const from = code === 'upstream_timeout' ? 'short' : 'box';
    const reply = await chat(`${from}/${name}`);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(reply.body.error).toContain(WORDS[name] ?? from);
    await expect.poll(() => upstream.running).toBe(0);
  });

  it.each(MIDSTREAM)('%s: a stream that has begun ends in an error frame and no [DONE]', async (name) => {
    const from = name === 'hung' ? 'stalls' : 'box';
    const said = await (await stream(`${from}/${name}`)).all();
    expect([said.done, said.complete]).toEqual([false, false]);
    expect(said.error?.error).toContain(from);
    expect(TALE.startsWith(said.text)).toBe(true);
  });

  it('what it said before it failed is passed on, even where both arrive together', async () => {
    const said = await (await stream('box/words-and-rubbish')).all();
    expect([said.text, said.done, said.error?.code]).toEqual(['Once ', false, 'upstream_broken']);
  });

  it('names the time after which it may be asked again', async () => {
    expect((await chat('box/busy-429')).headers['retry-after']).toBe('7');
  });

  it('cuts a prompt without a word is not believed', async () => {
    const known = [knownModel('good', { contextLength: 5 })];
    // It is asked for its models again meanwhile.
    upstream.pages['/api/show'] = { model_info: { 'general.architecture': 'fox', 'fox.context_length': 5 } };
    for (const dialect of ['ollama', 'vllm'] as const)
      await engines.add({ name: `five-${dialect}`, baseUrl: `${upstream.url}/v1`, dialect, known }, []);
    // Five tokens of prompt in a window of five: there is no room for an answer, and yet one came.
    const { status, body } = await chat('five-ollama/good');
    expect([status, body.code]).toEqual([400, 'context_length_exceeded']);
    const said = await (await stream('five-ollama/good')).all();
    expect([said.done, said.error?.code]).toEqual([false, 'context_length_exceeded']);
    expect((await chat('five-vllm/good')).status).toBe(200);
  });

  it('that nobody can connect to is named', async () => {
    await engines.add({ name: 'nobody', baseUrl: 'http://127.0.0.1:1/v1' }, ['good']);
    const { status, body } = await chat('nobody/good');
    expect([status, body.code]).toEqual([503, 'upstream_unreachable']);
  });

  it('and has no such model is a 404 that names it', async () => {
    const { status, body } = await chat('box/absent');
    expect([status, body.code]).toEqual([404, 'upstream_model_gone']);
    expect(body.error).toContain('box');
  });
});

describe('kept connections', () => {
  it('that the upstream has closed meanwhile, all of them, are no failure', async () => {
    await engines.add({ name: 'worn', baseUrl: `${upstream.url}/v1` }, names);
    await Promise.all([chat('worn/slow'), chat('worn/slow'), chat('worn/slow')]);
    const { status, body } = await chat('worn/reset-when-kept');
    expect([status, body.choices?.[0].message.content]).toEqual([200, TALE]);
  });
});

describe('a client', () => {
  it('that leaves ends the work of the upstream', async () => {
    const answer = await stream('box/hung');
    await answer.firstText();
    expect(upstream.running).toBe(1);
    answer.abandon();
    await expect.poll(() => upstream.running).toBe(0);
  });

  it('that reads slowly holds the upstream back', async () => {
    const answer = await stream('box/flood');
    await answer.firstText();
    let before = -1;
    await expect
      .poll(
        () => {
          const held = upstream.sent === before;
          before = upstream.sent;
          return held;
        },
        { interval: 200 },
      )
      .toBe(true);
    expect(upstream.sent).toBeLessThan(16_000 - 1);
    answer.abandon();
    await expect.poll(() => upstream.running).toBe(0);
  });
});
