/** POST /v1/chat/completions, answered whole. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { hello } from '../support/http/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, done, queued, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const clock = new ManualClock(1_760_000_000_999);
const service = scriptedService({ clock });
const chat = (fields: object = {}, headers: Record<string, string> = {}) =>
  service.client.chat(fields, headers);
const weather = {
  name: 'weather',
  description: 'Tells it.',
  parameters: { properties: { city: { type: 'string' } } },
};
const job = () => service.engine.lastJob.submission.job as GenerateJob;

describe('an answer', () => {
  it('has the shape of the interface, field by field', async () => {
    service.engine.plays(answer('Good ', 'day', '.'));
    const { status, headers, body } = await chat();
    verifies(['post-chat.request', 'post-chat.response', 'body.json'], () => {
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    });
    verifies('response.id', () => expect(body.id).toBe('chatcmpl-svc-1760000000'));
    // Time stands still here: the next answer is one of the same second.
    expect((await chat()).body.id).toBe('chatcmpl-svc-1760000000000001');
    verifies('response.object', () => expect(body.object).toBe('chat.completion'));
    verifies('response.created', () => expect(body.created).toBe(1_760_000_000));
    verifies('response.model', () => expect(body.model).toBe(installed.chat));
    verifies('response.usage', () =>
      expect(body.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }),
    );
    verifies('response.choices', () =>
      expect(body.choices).toEqual([
        {
          index: 0,
          message: { role: 'assistant', content: 'Good day.', refusal: null },
          finish_reason: 'stop',
          svc_finish_reason: 'stop',
          logprobs: null,
        },
      ]),
    );
  });

  it('is bound to the process by both headers', async () => {
    const { headers } = await chat();
    verifies(['service.bound', 'endpoints.bound', 'post-chat.response'], () => {
      expect(headers['x-svc-instance-id']).toBe(service.instanceId);
      expect(headers['x-svc-boot-id']).toBe(service.bootId);
    });
  });

  it('comes whole when stream is false or null', async () => {
    for (const fields of [{ stream: false }, { stream: null }, {}]) {
      const { body } = await chat(fields);
      verifies('chat.stream', () => expect(body.object).toBe('chat.completion'));
    }
  });

  it('tells what was reused from the prompt cache', async () => {
    const { usage } = (await chat()).body;
    expect(usage.prompt_tokens_details).toEqual({ cached_tokens: 3 });
  });

  it('is empty text, not null, when nothing was generated', async () => {
    service.engine.plays([started(), done('length', 0)]);
    const { body } = await chat({ max_tokens: 0 });
    verifies('message.content', () =>
      expect(body.choices[0].message).toEqual({ role: 'assistant', content: '', refusal: null }),
    );
  });

  it('carries any Unicode unharmed', async () => {
    const text = 'Grüße, 世界! 👩‍👩‍👧‍👦 \u0000\u001f\\ "quoted" \u2028';
    service.engine.plays(answer(text));
    expect((await chat()).body.choices[0].message.content).toBe(text);
  });

  it('says the true reason when the token limit ended it', async () => {
    service.engine.plays([started(), text('cut'), done('length')]);
    const [choice] = (await chat({ max_tokens: 1 })).body.choices;
    expect([choice.finish_reason, choice.svc_finish_reason]).toEqual(['length', 'length']);
  });

  it('separates thinking from the answer', async () => {
    service.engine.plays([started(), { type: 'reasoning', text: 'hm' }, text('yes'), done()]);
    expect((await chat()).body.choices[0].message).toEqual({
      role: 'assistant',
      content: 'yes',
      refusal: null,
      reasoning_content: 'hm',
    });
  });

  it('carries a tool call with its arguments as JSON text', async () => {
    service.engine.plays([
      started(),
      { type: 'tool_call', name: 'weather' },
      { type: 'tool_arguments', text: '{"city":' },
      { type: 'tool_arguments', text: '"Oslo"}' },
      done('tool_calls'),
    ]);
    const [choice] = (await chat({ tools: [weather] })).body.choices;
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message.content).toBe('');
    expect(choice.message.tool_calls).toEqual([
      {
        id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Oslo"}' },
      },
    ]);
  });

  it('waits in the queue without a word', async () => {
    service.engine.plays([queued(2), queued(1), ...answer('late')]);
    expect((await chat()).body.choices[0].message.content).toBe('late');
  });

  it('has as many choices as n asks for, with seeds of their own', async () => {
    service.engine.plays(answer('one'), answer('two', '!'), answer('three'));
    const before = service.engine.played.length;
    const { body } = await chat({ n: 3, seed: 2 ** 32 - 1 });
    expect(body.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
    expect(body.choices.map((choice: { message: { content: string } }) => choice.message.content)).toEqual([
      'one',
      'two!',
      'three',
    ]);
    // The prompt counts once, the answers add up.
    expect(body.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 });
    const jobs = service.engine.played.slice(before).map((played) => played.submission.job as GenerateJob);
    expect(jobs.map(({ sampling }) => sampling.seed)).toEqual([2 ** 32 - 1, 0, 1]);
    expect(new Set(jobs.map(({ jobId }) => jobId)).size).toBe(3);
  });
});

describe('a request', () => {
  it('names the model by id, by id with slash and tag, or by the alias default', async () => {
    for (const [name, id] of [
      ['tiny-chat', 'tiny-chat'],
      ['acme/tiny-chat:q4', 'acme/tiny-chat:q4'],
      ['default', 'tiny-chat'],
    ]) {
      const { body } = await chat({ model: name });
      verifies('response.model', () => expect(body.model).toBe(id));
      verifies('chat.model', () => expect(service.engine.lastJob.submission.target.modelId).toBe(id));
    }
  });

  it('speaks in the four roles, and developer is read as system', async () => {
    const roles = ['system', 'user', 'assistant', 'user', 'developer'];
    const messages = roles.map((role, index) => ({ role, content: `line ${index}` }));
    expect((await chat({ messages })).status).toBe(200);
    verifies(['chat.messages', 'message.role', 'message.content'], () =>
      expect(job().prompt).toEqual({
        kind: 'chat',
        turns: messages.map(({ role, content }) => ({
          role: role === 'developer' ? 'system' : role,
          content,
        })),
      }),
    );
  });

  it('may answer a tool call with a tool message', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
    const { status } = await chat({
      messages: [
        ...hello.messages,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
      ],
    });
    expect(status).toBe(200);
    const { prompt } = job();
    const turns = prompt.kind === 'chat' ? prompt.turns : [];
    verifies('message.role', () =>
      expect(turns.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'Hello'],
        ['assistant', ''],
        ['tool', 'rain'],
      ]),
    );
  });

  it('may send its text in parts, which are joined in their order', async () => {
    const content = [
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two' },
    ];
    await chat({ messages: [{ role: 'user', content }] });
    verifies('message.content', () =>
      expect(job().prompt).toEqual({ kind: 'chat', turns: [{ role: 'user', content: 'one two' }] }),
    );
  });

  it('has lone surrogates replaced, so that all text is valid Unicode', async () => {
    const body = '{"model":"default","messages":[{"role":"user","content":"a\\ud800b"}]}';
    const { status } = await service.client.ask({
      method: 'POST',
      path: '/v1/chat/completions',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(200);
    expect(job().prompt).toEqual({ kind: 'chat', turns: [{ role: 'user', content: 'a\ufffdb' }] });
  });

  it('may begin the answer', async () => {
    const messages = [
      { role: 'user', content: 'How much?' },
      { role: 'assistant', content: 'It is', reasoning: 'Count.' },
    ];
    await chat({ messages, continue_final_message: true });
    const [user, assistant] = [messages[0], { role: 'assistant', content: 'It is', reasoning: 'Count.' }];
    expect(job().prompt).toEqual({ kind: 'chat', turns: [user, assistant], continues: true });
    // Without being asked to, a message of the assistant is a turn like any other.
    await chat({ messages });
    expect(job().prompt).toEqual({ kind: 'chat', turns: [user, assistant] });
    const refused = await chat({ messages: messages.slice(0, 1), continue_final_message: true });
    expect([refused.status, refused.body.param]).toEqual([400, 'messages']);
    const both = await chat({ messages, continue_final_message: true, add_generation_prompt: true });
    expect([both.status, both.body.param]).toEqual([400, 'add_generation_prompt']);
  });

  it.each(['reasoning_content', 'reasoning', 'thinking'])('may bring thinking back as %s', async (name) => {
    await chat({
      messages: [
        { role: 'assistant', content: 'Yes.', [name]: 'hm' },
        { role: 'user', content: 'Why?' },
      ],
    });
    expect(job().prompt).toMatchObject({
      turns: [{ role: 'assistant', content: 'Yes.', reasoning: 'hm' }, {}],
    });
  });

  it('may define tools', async () => {
    const { tool_protocol: protocol } = (await service.client.get('/v1/identity')).body;
    for (const shape of [{ type: 'function', function: weather }, weather]) {
      const { status, headers } = await chat({ tools: [shape] });
      expect(status).toBe(200);
      expect(headers['x-svc-ignored-params']).toBeUndefined();
      verifies('chat.tools', () => expect(job().tools.map(({ name }) => name)).toEqual(['weather']));
      verifies('service.tool-envelope', () => {
        expect([protocol.name, protocol.version]).toEqual(['svc-tool-envelope', 1]);
        expect(job().tools).toHaveLength(1);
      });
    }
  });
});

describe('the options of a request', () => {
  it('reach the engine under their native names', async () => {
    await chat({ temperature: 0.25, top_p: 0.5, top_k: 7, min_p: 0.1, seed: 11, repeat_penalty: 1.1 });
    verifies(['chat.temperature', 'options.mapping'], () =>
      expect(job().sampling).toEqual({
        temperature: 0.25,
        topP: 0.5,
        topK: 7,
        minP: 0.1,
        seed: 11,
        repeatPenalty: 1.1,
      }),
    );
    await chat({
      presence_penalty: -2,
      frequency_penalty: 2,
      repeat_last_n: 5,
      logit_bias: { 42: -100 },
      stop: 'END',
    });
    expect(job().sampling).toMatchObject({
      presencePenalty: -2,
      frequencyPenalty: 2,
      repeatLastN: 5,
      logitBias: [[42, -100]],
    });
    expect(job().stop).toEqual(['END']);
  });

  it('limit the tokens by any of the aliases', async () => {
    const limited = async (fields: object) => {
      await chat(fields);
      return job().maxTokens;
    };
    const [predict, tokens] = [await limited({ num_predict: 9 }), await limited({ max_tokens: 8 })];
    verifies('chat.num-predict', () => expect(predict).toBe(9));
    verifies('chat.max-tokens', () => expect(tokens).toBe(8));
    verifies('options.mapping', () => expect([predict, tokens]).toEqual([9, 8]));
    expect(await limited({ max_completion_tokens: 7 })).toBe(7);
  });

  it('take the smallest of several token limits and name the others', async () => {
    const { headers } = await chat({ num_predict: 20, max_tokens: 5, max_completion_tokens: -1 });
    expect(job().maxTokens).toBe(5);
    expect(headers['x-svc-ignored-params']).toBe('num_predict,max_completion_tokens');
    const named = await chat({ n_predict: 7, max_tokens: 5 });
    expect(job().maxTokens).toBe(5);
    expect(named.headers['x-svc-ignored-params']).toBe('n_predict');
  });

  it('leave the number of tokens to the window when there is no limit, or -1', async () => {
    await chat({ max_tokens: -1 });
    expect(job().maxTokens).toBeNull();
    await chat();
    expect(job().maxTokens).toBeNull();
  });

  it('take the defaults of the model where they say nothing, and -1 against them', async () => {
    await setParams(service.registry, installed.slashed, { maxTokens: 64, seed: 7 });
    const made = async (fields: object) => {
      await chat({ model: installed.slashed, n: 2, ...fields });
      const jobs = service.engine.played.slice(-2).map(({ submission }) => submission.job as GenerateJob);
      return [jobs[0]?.maxTokens, jobs[0]?.sampling.seed, jobs[1]?.sampling.seed];
    };
    expect(await made({})).toEqual([64, 7, 8]);
    expect(await made({ max_tokens: -1 })).toEqual([null, 7, 8]);
    const [, first] = await made({ seed: -1 });
    const [, second] = await made({ seed: -1 });
    expect(new Set([7, first, second]).size).toBe(3);
  });

  it.each([2 ** 31, 1e12, Number.MAX_SAFE_INTEGER])('bound a token limit of %d', async (limit) => {
    expect((await chat({ max_tokens: limit })).status).toBe(200);
  });

  it('ask for a window, and the answer says which was used', async () => {
    service.engine.plays([started(512), text('x'), done()]);
    const { headers } = await chat({ num_ctx: 512 });
    verifies(['chat.num-ctx', 'options.mapping'], () => {
      expect(service.engine.lastJob.submission.numCtx).toBe(512);
      expect(job().numCtx).toBe(512);
    });
    expect(headers['x-svc-num-ctx']).toBe('512');
  });

  it.each([2049, 2 ** 31, 1e9, Number.MAX_SAFE_INTEGER])(
    'bound a window of %d by the trained context',
    async (numCtx) => {
      expect((await chat({ num_ctx: numCtx })).status).toBe(200);
      verifies('chat.num-ctx', () => expect(service.engine.lastJob.submission.numCtx).toBe(2048));
    },
  );

  it('count as absent when they are null', async () => {
    const names = ['temperature', 'max_tokens', 'num_ctx', 'tools', 'stop', 'seed', 'stream_options', 'n'];
    const { status, headers } = await chat(Object.fromEntries(names.map((name) => [name, null])));
    expect(status).toBe(200);
    expect(headers['x-svc-ignored-params']).toBeUndefined();
    expect(Object.keys(job().sampling)).toEqual(['seed']);
  });

  it('read -0 as 0', async () => {
    const body = '{"model":"default","messages":[{"role":"user","content":"x"}],"temperature":-0.0}';
    const headers = { 'content-type': 'application/json' };
    await service.client.ask({ method: 'POST', path: '/v1/chat/completions', body, headers });
    expect(Math.abs(job().sampling.temperature ?? 1)).toBe(0);
  });

  it.each([
    ['10m', 600_000],
    [0, 0],
    ['0', 0],
    [-1, Number.POSITIVE_INFINITY],
    [30, 30_000],
    ['1h30m', 5_400_000],
  ])('keep the model loaded for %s', async (keepAlive, ms) => {
    await chat({ keep_alive: keepAlive });
    expect(service.engine.lastJob.submission.keepAliveMs).toBe(ms);
  });

  it('are accepted when unknown, and named in X-Svc-Ignored-Params', async () => {
    const { status, headers } = await chat({ user: 'u-1', store: false, 'odd name,\r\n': 1, gone: null });
    expect(status).toBe(200);
    expect(headers['x-svc-ignored-params']).toBe('user,store,odd?name???');
  });

  it('of the interface alone leave no X-Svc-Ignored-Params', async () => {
    const { headers } = await chat({ temperature: 0, num_predict: 4, num_ctx: 256, stream: false });
    expect(headers['x-svc-ignored-params']).toBeUndefined();
  });

  it('report log probabilities when asked', async () => {
    const chosen = { text: 'x', bytes: [120], logprob: -0.5 };
    service.engine.plays([
      started(),
      { type: 'text', text: 'x', tokens: [{ chosen, top: [chosen] }] },
      done(),
    ]);
    const { body } = await chat({ logprobs: true, top_logprobs: 1 });
    expect(job().topLogprobs).toBe(1);
    expect(body.choices[0].logprobs.content).toEqual([
      {
        token: 'x',
        bytes: [120],
        logprob: -0.5,
        top_logprobs: [{ token: 'x', bytes: [120], logprob: -0.5 }],
      },
    ]);
  });
});

describe('the header X-Svc-Evidence-Mode', () => {
  it.each(['frozen-v2', 'FROZEN-V1', 'frozen', 'none', '', 'frozen-v1, frozen-v1'])(
    'is a 400 with the value %j',
    async (mode) => {
      const jobs = service.engine.played.length;
      const { status, body } = await chat({}, { 'x-svc-evidence-mode': mode });
      verifies('post-chat.evidence-mode', () => {
        expect([status, body.param]).toEqual([400, 'X-Svc-Evidence-Mode']);
        expect(body.error).toContain('frozen-v1');
      });
      expect(service.engine.played.length).toBe(jobs);
    },
  );

  it('is not in the answer, nor is evidence, when the request did not ask', async () => {
    const { headers, body } = await chat();
    expect(headers['x-svc-evidence-mode']).toBeUndefined();
    expect(body).not.toHaveProperty('evidence');
  });
});
