/** POST /v1/messages over a scripted engine: what goes in, what comes out whole, exactly. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../../src/contract/job.ts';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import { answer, done, started, text } from '../../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../../support/http/scripted-service.ts';
import { verifies } from '../requirements.ts';

const service = scriptedService();
const path = '/v1/messages';
const hello = { model: 'default', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] };
const ask = (fields: object = {}, headers: Record<string, string> = {}) =>
  service.client.post(path, { ...hello, ...fields }, headers);

const weather = {
  name: 'weather',
  description: 'Tells it.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
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
  it('is a message', async () => {
    const { status, body, headers } = await ask();
    verifies('messages.route', () => expect(status).toBe(200));
    verifies('messages.message', () => {
      expect(body.id).toMatch(/^msg_[0-9a-f]{24}$/);
      expect(body).toMatchObject({ type: 'message', role: 'assistant', model: installed.chat });
      expect(body.content).toEqual([{ type: 'text', text: 'Hello there.' }]);
    });
    verifies('messages.stop-reasons', () =>
      expect([body.stop_reason, body.stop_sequence]).toEqual(['end_turn', null]),
    );
    verifies('messages.usage', () =>
      expect(body.usage).toEqual({
        input_tokens: 4,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 3,
        output_tokens: 3,
      }),
    );
    verifies('messages.request-id', () => expect(headers['request-id']).toBe(headers['x-request-id']));
    expect(headers['x-svc-num-ctx']).toBe('4096');
  });

  it('says what ended it', async () => {
    // As many as the prompt of seven tokens leaves of the window.
    const full = done('length', 9);
    service.engine.plays(
      [started(16), text('a'), full],
      [started(), text('a'), done('length', 64)],
      [started(), text('a'), { ...done('stop'), stopString: 'END' } as JobEvent],
    );
    expect((await ask()).body.stop_reason).toBe('model_context_window_exceeded');
    const cut = (await ask()).body;
    verifies('messages.stop-reasons', () => expect(cut.stop_reason).toBe('max_tokens'));
    const { body } = await ask({ stop_sequences: ['END'] });
    verifies('messages.stop-sequences', () => {
      expect(lastJob().stop).toEqual(['END']);
      expect([body.stop_reason, body.stop_sequence]).toEqual(['stop_sequence', 'END']);
    });
  });

  it('holds several calls, each whole and with its own id', async () => {
    service.engine.plays([
      started(),
      text('Look:'),
      ...call('Oslo'),
      ...call('Rome'),
      ...call('Oslo'),
      done('tool_calls'),
    ]);
    const { body } = await ask({ tools: [weather] });
    const [, first, second, third] = body.content;
    verifies(['messages.tool-use', 'messages.parallel'], () => {
      expect(body.content[0]).toEqual({ type: 'text', text: 'Look:' });
      expect(first).toMatchObject({ type: 'tool_use', name: 'weather', input: { city: 'Oslo' } });
      expect(second).toMatchObject({ type: 'tool_use', name: 'weather', input: { city: 'Rome' } });
      expect(new Set([first.id, second.id, third.id]).size).toBe(3);
      expect(first.id).toMatch(/^toolu_[0-9a-f]{24}$/);
      expect(body.stop_reason).toBe('tool_use');
    });
  });

  it('that the limit cut keeps the calls that are whole, and no other', async () => {
    service.engine.plays([started(), ...call('Oslo'), ...call('Rome').slice(0, 2), done('length', 64)]);
    const { body } = await ask({ tools: [weather] });
    expect(body.content).toHaveLength(1);
    expect(body).toMatchObject({ stop_reason: 'max_tokens', content: [{ input: { city: 'Oslo' } }] });
  });

  it('has its thinking in a block of its own', async () => {
    service.engine.plays([
      started(),
      { type: 'reasoning', text: 'hm ' },
      { type: 'reasoning', text: 'yes' },
      text('42'),
      done(),
    ]);
    const { content } = (await ask({ thinking: { type: 'enabled', budget_tokens: 32 } })).body;
    verifies('messages.thinking', () => {
      expect(content).toEqual([
        { type: 'thinking', thinking: 'hm yes', signature: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) },
        { type: 'text', text: '42' },
      ]);
      expect(lastJob().reasoning).toEqual({ enabled: true, budgetTokens: 32 });
    });
  });
});

describe('a conversation', () => {
  it('has its system prompt first, from text or blocks, without what is a header in disguise', async () => {
    await ask({ system: 'Be brief.' });
    verifies('messages.system', () =>
      expect(lastTurns()[0]).toEqual({ role: 'system', content: 'Be brief.' }),
    );
    const blocks = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=1; cch=abc;' },
      { type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Two.' },
    ];
    await ask({ system: blocks });
    verifies(['messages.system', 'messages.cache-control'], () =>
      expect(lastTurns()[0]).toEqual({ role: 'system', content: 'One.\n\nTwo.' }),
    );
  });

  it('goes on behind the words of the assistant that it ends with', async () => {
    const begun = { role: 'assistant', content: 'The answer is' };
    await ask({ messages: [{ role: 'user', content: 'How much?' }, begun] });
    verifies('messages.begun', () => {
      expect(lastTurns().at(-1)).toEqual(begun);
      expect(lastJob().prompt).toMatchObject({ continues: true });
    });
    await ask({
      messages: [
        { role: 'user', content: 'How much?' },
        { role: 'assistant', content: '' },
      ],
    });
    expect(lastJob().prompt).toEqual({ kind: 'chat', turns: [{ role: 'user', content: 'How much?' }] });
  });

  it('brings calls, results and thinking back', async () => {
    const use = (id: string, city: string) => ({ type: 'tool_use', id, name: 'weather', input: { city } });
    await ask({
      tools: [weather],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Where' },
            { type: 'text', text: 'is it cold?' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'redacted_thinking', data: 'x' },
            { type: 'text', text: 'I look.' },
            use('a', 'Oslo'),
            use('b', 'Rome'),
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [
                { type: 'text', text: 'warm' },
                { type: 'text', text: 'dry' },
              ],
            },
            { type: 'tool_result', tool_use_id: 'a', content: 'no station', is_error: true },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    });
    verifies(['messages.roles', 'messages.tool-result', 'messages.thinking'], () =>
      expect(lastTurns()).toEqual([
        { role: 'user', content: 'Where\n\nis it cold?' },
        {
          role: 'assistant',
          content: 'I look.',
          reasoning: 'hm',
          toolCalls: [
            { id: 'a', name: 'weather', argumentsJson: '{"city":"Oslo"}' },
            { id: 'b', name: 'weather', argumentsJson: '{"city":"Rome"}' },
          ],
        },
        { role: 'tool', content: 'Error: no station', toolCallId: 'a', name: 'weather' },
        { role: 'tool', content: 'warm\n\ndry', toolCallId: 'b', name: 'weather' },
        { role: 'user', content: 'Well?' },
      ]),
    );
  });

  it.each([
    [{ type: 'auto' }, { mode: 'auto' }, 64],
    [{ type: 'any' }, { mode: 'required' }, 64],
    [{ type: 'none' }, { mode: 'none' }, 64],
    [{ type: 'tool', name: 'weather' }, { mode: 'named', name: 'weather' }, 64],
    [{ type: 'any', disable_parallel_tool_use: true }, { mode: 'required' }, 1],
  ])('chooses tools by %j', async (choice, mode, most) => {
    service.engine.plays([started(), ...call('Oslo'), done('tool_calls')]);
    await ask({ tools: [weather], tool_choice: choice });
    verifies(['messages.tool-choice', 'messages.parallel'], () => {
      expect(lastJob().toolChoice).toEqual(mode);
      expect(lastJob().maxCalls).toBe(most);
    });
  });

  it('may ask for JSON of a schema', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    service.engine.plays(answer('{"n":5}'));
    await ask({ output_config: { format: { type: 'json_schema', schema }, effort: 'max' } });
    verifies('messages.format', () =>
      expect(lastJob()).toMatchObject({
        format: { kind: 'json_schema', schema },
        reasoning: { effort: 'xhigh' },
      }),
    );
  });

  it('says which of its fields and tools had no effect', async () => {
    const { headers } = await ask({
      metadata: { user_id: 'u' },
      num_predict: 5,
      cache_control: { type: 'ephemeral' },
      tools: [
        { ...weather, cache_control: { type: 'ephemeral' } },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      thinking: { type: 'adaptive' },
    });
    expect(headers['x-svc-ignored-params']).toBe(
      'thinking,tools[1].web_search_20250305,metadata,num_predict',
    );
    expect(lastJob().tools.map(({ name }) => name)).toEqual(['weather']);
  });
});

describe('a tool whose schema no grammar enforces whole', () => {
  it('is served, and the header names what only the check enforces', async () => {
    const input_schema = {
      type: 'object',
      properties: { tags: { type: 'array', items: { type: 'string' }, uniqueItems: true } },
    };
    const { status, headers } = await ask({ tools: [{ name: 'tag', input_schema }] });
    expect([status, headers['x-svc-relaxed']]).toEqual([
      200,
      expect.stringContaining('tag#/properties/tags/uniqueItems'),
    ]);
  });
});

describe('a count of tokens', () => {
  it('is that of the prompt, and generates nothing', async () => {
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
    const { max_tokens: _, ...rest } = hello;
    const { body, status } = await service.client.post(`${path}/count_tokens?beta=true`, rest);
    verifies('count-tokens.route', () => expect([status, body]).toEqual([200, { input_tokens: 17 }]));
    expect(service.engine.lastJob.submission.job.kind).toBe('explain');
  });
});

describe('the headers of its clients', () => {
  it('are accepted', async () => {
    const { status } = await ask(
      {},
      { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a-2025-01-01,b' },
    );
    verifies('messages.versions', () => expect(status).toBe(200));
  });
});
