/** Long conversations that are made shorter, in every dialect: what the model reads, and what the answer says of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GenerateJob, Turn } from '../../src/contract/job.ts';
import { countChars, CLEARED } from '../../src/server/api/chat/compaction/context-edits.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { namedEvents } from '../support/http/named-events.ts';
import { answer, done, started } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const model = installed.chat;
const NUM_CTX = 4096;
const RESULT = 'line of a file. '.repeat(20);
const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
const steps = (count: number) => Array.from({ length: count }, (_, at) => at);

const turnsOf = ({ prompt }: GenerateJob): readonly Turn[] => (prompt.kind === 'chat' ? prompt.turns : []);
const sizeOf = (turns: readonly Turn[]): number => Math.ceil(countChars(turns) / 4);
const jobs = (): GenerateJob[] =>
  service.engine.played.flatMap(({ submission }) =>
    submission.job.kind === 'generate' ? [submission.job] : [],
  );
const lastTurns = (): readonly Turn[] => turnsOf(jobs().at(-1) as GenerateJob);
const resultsOf = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
const clearedOf = (turns: readonly Turn[]): number =>
  resultsOf(turns).filter((content) => content === CLEARED).length;

beforeEach(() => {
  service.engine.played.length = 0;
  service.engine.sizes = (job) => ({ promptTokens: sizeOf(turnsOf(job)), numCtx: NUM_CTX });
});
afterEach(async () => {
  service.engine.forgetScripts();
  await setParams(service.registry, installed.slashed, { compact: null });
});

const messages = (count: number, fields: object = {}) => ({
  model,
  max_tokens: 100,
  system: 'Be brief.',
  tools: [
    { name: 'read', input_schema: parameters },
    { name: 'find', input_schema: parameters },
  ],
  messages: [
    { role: 'user', content: 'Look at all files.' },
    ...steps(count).flatMap((n) => [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: `file ${n}`, signature: '' },
          { type: 'tool_use', id: `c${n}`, name: n === 1 ? 'find' : 'read', input: { n } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: `${n} ${RESULT}` }] },
    ]),
  ],
  ...fields,
});
const clear = (fields: object = {}) => ({
  context_management: {
    edits: [{ type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 100 }, ...fields }],
  },
});

describe('the edits of the Messages dialect', () => {
  it('clear all but the latest results beyond the trigger, and the answer counts them', async () => {
    const { status, body, headers } = await service.client.post('/v1/messages', messages(8, clear()));
    expect(status).toBe(200);
    expect(resultsOf(lastTurns())).toEqual([
      ...steps(5).map(() => CLEARED),
      ...[5, 6, 7].map((n) => `${n} ${RESULT}`),
    ]);
    const [before, after] = [body.svc_compaction.tokens_before, body.svc_compaction.tokens_after];
    expect(after).toBe(sizeOf(lastTurns()));
    expect(body.context_management).toEqual({
      applied_edits: [
        { type: 'clear_tool_uses_20250919', cleared_tool_uses: 5, cleared_input_tokens: before - after },
      ],
    });
    expect(body.svc_compaction).toMatchObject({ cleared_tool_results: 5, tokens_evaluated: 4 });
    expect(headers['x-svc-compaction']).toBe(`before=${before}, after=${after}`);
  });

  it('are told at the end of a stream, and in its head', async () => {
    const { text, headers } = await service.client.post(
      '/v1/messages',
      messages(8, { ...clear(), stream: true }),
    );
    const delta = namedEvents('/v1/messages', text).find(({ type }) => type === 'message_delta');
    expect(delta?.['context_management'].applied_edits).toMatchObject([{ cleared_tool_uses: 5 }]);
    expect(headers['x-svc-compaction']).toMatch(/^before=\d+, after=\d+$/);
  });

  it.each<[string, object, number]>([
    ['below the trigger', clear({ trigger: { type: 'input_tokens', value: 100_000 } }), 0],
    [
      'without one, which is 100,000 tokens',
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      0,
    ],
    ['beyond a number of calls', clear({ trigger: { type: 'tool_uses', value: 7 } }), 5],
    ['up to a number of calls', clear({ trigger: { type: 'tool_uses', value: 8 } }), 0],
    ['with as many kept as there are', clear({ keep: { type: 'tool_uses', value: 8 } }), 0],
    ['with one tool excluded', clear({ exclude_tools: ['find'] }), 4],
    [
      'for fewer tokens than it must bring',
      clear({ clear_at_least: { type: 'input_tokens', value: 9_000 } }),
      0,
    ],
  ])('clear %s: %#', async (_, fields, cleared) => {
    const { body } = await service.client.post('/v1/messages', messages(8, fields));
    expect(clearedOf(lastTurns())).toBe(cleared);
    expect(body.context_management.applied_edits).toHaveLength(cleared === 0 ? 0 : 1);
    expect('svc_compaction' in body).toBe(cleared > 0);
  });

  it('clear arguments and thinking', async () => {
    const edits = [
      { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 2 } },
      ...clear({ clear_tool_inputs: true }).context_management.edits,
    ];
    const { body } = await service.client.post(
      '/v1/messages',
      messages(8, { context_management: { edits } }),
    );
    const turns = lastTurns();
    expect(turns.flatMap(({ reasoning }) => reasoning ?? [])).toEqual(['file 6', 'file 7']);
    expect(turns.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.argumentsJson))).toEqual([
      ...steps(5).map(() => '{}'),
      ...[5, 6, 7].map((n) => `{"n":${n}}`),
    ]);
    expect(body.context_management.applied_edits).toMatchObject([
      { type: 'clear_thinking_20251015', cleared_thinking_turns: 6 },
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 5 },
    ]);
    for (const keep of ['all', { type: 'all' }]) {
      await service.client.post(
        '/v1/messages',
        messages(8, { context_management: { edits: [{ type: 'clear_thinking_20251015', keep }] } }),
      );
      expect(lastTurns().filter(({ reasoning }) => reasoning !== undefined)).toHaveLength(8);
    }
  });

  it('that are not known are named, and odd ones refused', async () => {
    const unknown = { context_management: { edits: [{ type: 'compact_20990101' }] } };
    const { headers } = await service.client.post('/v1/messages', messages(1, unknown));
    expect(headers['x-svc-ignored-params']).toContain('context_management.edits[0].compact_20990101');
    for (const [fields, param] of [
      [{ trigger: { type: 'hours', value: 1 } }, 'trigger.type'],
      [{ trigger: { type: 'input_tokens', value: -1 } }, 'trigger.value'],
      [{ keep: 3 }, 'keep'],
      [{ exclude_tools: 'read' }, 'exclude_tools'],
      [{ clear_tool_inputs: 1 }, 'clear_tool_inputs'],
    ] as const) {
      const { status, body } = await service.client.post('/v1/messages', messages(1, clear(fields)));
      expect([status, body.error.param]).toEqual([400, `context_management.edits[0].${param}`]);
    }
  });

  it('count in a count of tokens', async () => {
    const { max_tokens: _, ...conversation } = messages(8, clear());
    const { body } = await service.client.post('/v1/messages/count_tokens', conversation);
    expect(body.context_management.original_input_tokens).toBeGreaterThan(body.input_tokens);
    expect(jobs()).toEqual([]);
  });
});

const items = (count: number) => [
  { role: 'user', content: 'Look at all files.' },
  ...steps(count).flatMap((n) => [
    { type: 'function_call', call_id: `c${n}`, name: 'read', arguments: `{"n":${n}}` },
    { type: 'function_call_output', call_id: `c${n}`, output: `${n} ${RESULT}` },
  ]),
];
const responses = (input: readonly object[], compact_threshold?: number) => ({
  model,
  instructions: 'Be brief.',
  input,
  tools: [{ type: 'function', name: 'read', parameters }],
  ...(compact_threshold === undefined
    ? {}
    : { context_management: [{ type: 'compaction', compact_threshold }] }),
});
const SUMMARY = 'Files 0 to 15 hold nothing new.';

describe('compact_20260112 of the Messages dialect', () => {
  const compact = (value: number, fields: object = {}) => ({
    context_management: {
      edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value }, ...fields }],
    },
  });
  /** A conversation of its own: summaries are remembered by how it begins. */
  const talk = (word: string, fields: object = {}) => {
    const { messages: all, ...rest } = messages(16, fields);
    return { ...rest, messages: [{ role: 'user', content: word }, ...all.slice(1)] };
  };
  type Block = Record<string, unknown> & { readonly type: string };
  /** The same conversation, gone on after an answer of these blocks. */
  const next = (word: string, content: readonly object[]) => {
    const { messages: before, ...rest } = talk(word);
    return {
      ...rest,
      messages: [...before, { role: 'assistant', content }, { role: 'user', content: 'Thanks.' }],
    };
  };

  it('has the model summarise, and gives the client a block that stands for all before it', async () => {
    service.engine.plays(answer(SUMMARY), answer('All read.'));
    const { body, headers } = await service.client.post('/v1/messages', talk('One.', compact(700)));
    const [summarising, answering] = jobs() as [GenerateJob, GenerateJob];
    expect(turnsOf(summarising).at(-1)?.content).toMatch(/^Summarise this conversation/);
    expect(turnsOf(answering)).toContainEqual({ role: 'user', content: expect.stringContaining(SUMMARY) });
    const blocks = body.content as Block[];
    expect(blocks).toEqual([
      { type: 'compaction', content: SUMMARY, encrypted_content: expect.stringMatching(/^svc1\./) },
      { type: 'text', text: 'All read.' },
    ]);
    expect(headers['x-svc-ignored-params'] ?? '').not.toContain('context_management');
    await service.client.post('/v1/messages', next('One.', blocks));
    const gone = [
      { role: 'assistant', content: 'All read.' },
      { role: 'user', content: 'Thanks.' },
    ];
    expect(lastTurns()).toEqual([...turnsOf(answering), ...gone]);
    // From another service, its text is all that is known.
    const [block, said] = blocks as [Block, Block];
    for (const foreign of [null, 'sealed elsewhere', 'svc1.e30']) {
      await service.client.post(
        '/v1/messages',
        next('One.', [{ ...block, encrypted_content: foreign }, said]),
      );
      const system = turnsOf(answering).filter(({ role }) => role === 'system');
      const summary = { role: 'user', content: expect.stringContaining(SUMMARY) };
      expect(lastTurns()).toEqual([...system, summary, ...gone]);
    }
  });

  it('streams the block before the answer', async () => {
    service.engine.plays(answer(SUMMARY), answer('All read.'));
    const asked = talk('Two.', { ...compact(700), stream: true });
    const events = namedEvents('/v1/messages', (await service.client.post('/v1/messages', asked)).text);
    const started = events.filter(({ type }) => type === 'content_block_start');
    expect(started.map(({ index, content_block }) => [index, content_block.type])).toEqual([
      [0, 'compaction'],
      [1, 'text'],
    ]);
    const deltas = events.flatMap(({ type, delta }) => (type === 'content_block_delta' ? [delta] : []));
    expect(deltas[0]).toMatchObject({ type: 'compaction_delta', content: SUMMARY });
  });

  it('asks in the words of the client, and names the pause that it does not make', async () => {
    service.engine.plays(answer('Short.'), answer('ok'));
    const fields = { instructions: 'Name the files only.', pause_after_compaction: true };
    const { body, headers } = await service.client.post('/v1/messages', talk('Three.', compact(700, fields)));
    expect(turnsOf(jobs()[0] as GenerateJob).at(-1)?.content).toBe('Name the files only.');
    expect(body.content[0]).toMatchObject({ type: 'compaction', content: 'Short.' });
    expect(headers['x-svc-ignored-params']).toContain('context_management.edits[0].pause_after_compaction');
    const odd = messages(1, compact(700, { instructions: 7 }));
    expect((await service.client.post('/v1/messages', odd)).body.error.param).toBe(
      'context_management.edits[0].instructions',
    );
  });

  it.each<[string, object]>([
    ['below the trigger', compact(1_000_000)],
    [
      'without one, which is 150,000 tokens',
      { context_management: { edits: [{ type: 'compact_20260112' }] } },
    ],
  ])('does nothing %s', async (_, fields) => {
    const { body } = await service.client.post('/v1/messages', talk('Four.', fields));
    expect(body.content.map(({ type }: Block) => type)).not.toContain('compaction');
    expect(jobs()).toHaveLength(1);
  });

  it('gives no block to a client that does not know of it', async () => {
    await setParams(service.registry, installed.slashed, { compact: '200' });
    service.engine.plays(...Array.from({ length: 9 }, () => answer(SUMMARY)));
    const { body } = await service.client.post('/v1/messages', talk('Six.', { model: installed.slashed }));
    expect(body.svc_compaction.summarized_turns).toBeGreaterThan(0);
    expect(body.content.map(({ type }: Block) => type)).toEqual(['text']);
  });

  it('takes a block that failed for none', async () => {
    const failed = { type: 'compaction', content: null, encrypted_content: null };
    await service.client.post('/v1/messages', next('Five.', [failed, { type: 'text', text: 'Hi.' }]));
    const kept = lastTurns();
    await service.client.post('/v1/messages', next('Five.', [{ type: 'text', text: 'Hi.' }]));
    expect(kept).toEqual(lastTurns());
  });
});

describe('compaction in the Responses dialect', () => {
  it('clears results first, and needs no summary where that is enough', async () => {
    const { body } = await service.client.post('/v1/responses', responses(items(16), 900));
    expect([clearedOf(lastTurns()), jobs().length]).toEqual([12, 1]);
    expect(body.output.map(({ type }: { type: string }) => type)).toEqual(['message']);
    expect(body.svc_compaction).toMatchObject({ cleared_tool_results: 12, summarized_turns: 0 });
  });

  it('then has the model summarise, and gives the client an item that stands for all before it', async () => {
    service.engine.plays(answer(SUMMARY), answer('All read.'));
    const { body } = await service.client.post('/v1/responses', responses(items(40), 700));
    const [summarising, answering] = jobs() as [GenerateJob, GenerateJob];
    expect(turnsOf(summarising).slice(0, 2)).toEqual(turnsOf(answering).slice(0, 2));
    expect(turnsOf(summarising).at(-1)?.content).toMatch(/^Summarise this conversation/);
    expect(summarising.tools).toEqual(answering.tools);
    expect(turnsOf(answering)[2]).toEqual({ role: 'user', content: expect.stringContaining(SUMMARY) });
    expect(sizeOf(turnsOf(answering))).toBeLessThanOrEqual(700);
    expect(body.svc_compaction).toMatchObject({ summary_tokens: 1, summarized_turns: expect.any(Number) });
    const [item, message] = body.output;
    expect([item.type, message.type]).toEqual(['compaction', 'message']);
    const next = [...items(40), item, message, { role: 'user', content: 'Thanks.' }];
    await service.client.post('/v1/responses', responses(next));
    expect(lastTurns()).toEqual([
      ...turnsOf(answering),
      { role: 'assistant', content: 'All read.' },
      { role: 'user', content: 'Thanks.' },
    ]);
    await service.client.post('/v1/responses', {
      ...responses([{ role: 'user', content: 'Thanks.' }]),
      previous_response_id: body.id,
    });
    expect(lastTurns().slice(0, -2)).toEqual(turnsOf(answering));
  });

  it('streams the item before the answer', async () => {
    service.engine.plays(answer(SUMMARY), answer('All read.'));
    const asked = { ...responses(items(44), 700), stream: true };
    const events = namedEvents('/v1/responses', (await service.client.post('/v1/responses', asked)).text);
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added.map(({ item, output_index }) => [item.type, output_index])).toEqual([
      ['compaction', 0],
      ['message', 1],
    ]);
    expect(events.at(-1)?.['response'].output.map(({ type }: { type: string }) => type)).toEqual([
      'compaction',
      'message',
    ]);
  });

  it('tries once more without tools where the model calls one, and goes on without a summary where it writes none', async () => {
    const calling = [
      started(),
      { type: 'tool_call' as const, name: 'read' },
      { type: 'tool_arguments' as const, text: '{"n":1}' },
      done('tool_calls'),
    ];
    service.engine.plays(calling, answer(SUMMARY), answer('ok'));
    const others = (word: string) => [{ role: 'user', content: word }, ...items(40).slice(1)];
    await service.client.post('/v1/responses', responses(others('One.'), 700));
    expect(jobs().map(({ toolChoice }) => toolChoice.mode)).toEqual(['auto', 'none', 'auto']);
    service.engine.played.length = 0;
    service.engine.plays(calling, answer(), answer('ok'));
    const { status, body } = await service.client.post('/v1/responses', responses(others('Two.'), 700));
    expect([status, body.svc_compaction.summarized_turns]).toEqual([200, 0]);
  });

  it('on its own answers with the words of the user and the item, which a request can go on from', async () => {
    service.engine.plays(answer(SUMMARY));
    const input = [
      ...items(3),
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'And now?' },
    ];
    const { status, body } = await service.client.post('/v1/responses/compact', responses(input));
    expect([status, body.object]).toEqual([200, 'response.compaction']);
    // Each has what Open Responses requires of an item.
    expect(body.output.slice(0, -1)).toEqual(
      ['Look at all files.', 'And now?'].map((text) => ({
        type: 'message',
        id: expect.stringMatching(/^msg_/),
        status: 'completed',
        role: 'user',
        content: [{ type: 'input_text', text }],
      })),
    );
    expect(body.output.at(-1).type).toBe('compaction');
    expect(body.usage).toMatchObject({ input_tokens: 7, output_tokens: 1 });
    await service.client.post(
      '/v1/responses',
      responses([...body.output, { role: 'user', content: 'Go on.' }]),
    );
    expect(lastTurns().map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Look at all files.'],
      ['user', expect.stringContaining(SUMMARY)],
      ['user', 'And now?'],
      ['user', 'Go on.'],
    ]);
  });

  it('of a conversation that the window has no room for summarises it in parts', async () => {
    service.engine.plays(...steps(6).map((at) => answer(`Part ${at}.`)));
    const { status, body } = await service.client.post('/v1/responses', responses(items(400), 1200));
    expect(status).toBe(200);
    for (const job of jobs()) expect(sizeOf(turnsOf(job))).toBeLessThan(NUM_CTX);
    expect(body.svc_compaction.tokens_before).toBeGreaterThan(NUM_CTX);
    expect(sizeOf(lastTurns())).toBeLessThanOrEqual(1200);
  });
});

describe('a model that is set to compact', () => {
  const chat = (count: number) => ({
    model: installed.slashed,
    tools: [{ type: 'function', function: { name: 'read', parameters } }],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look at all files.' },
      ...steps(count).flatMap((n) => [
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: `c${n}`, type: 'function', function: { name: 'read', arguments: `{"n":${n}}` } },
          ],
        },
        { role: 'tool', tool_call_id: `c${n}`, content: `${n} ${RESULT}` },
      ]),
    ],
  });

  it('leaves conversations as they are unless it is set', async () => {
    const { body } = await service.client.post('/v1/chat/completions', chat(40));
    expect([resultsOf(lastTurns()).length, clearedOf(lastTurns()), body.svc_compaction]).toEqual([
      40,
      0,
      undefined,
    ]);
  });

  it('does so for clients that know nothing of it, and says so', async () => {
    await setParams(service.registry, installed.slashed, { compact: '20%' });
    const { body, headers } = await service.client.post('/v1/chat/completions', chat(16));
    expect(clearedOf(lastTurns())).toBe(12);
    expect(body.svc_compaction).toMatchObject({
      cleared_tool_results: 12,
      tokens_after: sizeOf(lastTurns()),
    });
    expect(headers['x-svc-compaction']).toBeDefined();
    const { tools, messages: said } = chat(16);
    const ollama = said.map((message) => {
      if (!('tool_calls' in message) || message.tool_calls === undefined) return message;
      const calls = message.tool_calls.map((call) => JSON.parse(call.function.arguments) as object);
      return {
        ...message,
        tool_calls: calls.map((given) => ({ function: { name: 'read', arguments: given } })),
      };
    });
    const asked = { model: installed.slashed, stream: false, tools, messages: ollama };
    const reply = await service.client.post('/api/chat', asked);
    expect([reply.status, reply.body.svc_compaction?.cleared_tool_results]).toEqual([200, 12]);
  });

  it('keeps the beginning of a conversation that grows, and summarises nothing twice', async () => {
    await setParams(service.registry, installed.slashed, { compact: '700' });
    let before: readonly Turn[] = [];
    let [evaluated, read] = [0, 0];
    let summaries = 0;
    for (let count = 30; count < 60; count += 1) {
      service.engine.played.length = 0;
      service.engine.plays((submission) => {
        const turns = turnsOf(submission.job as GenerateJob);
        return answer(turns.at(-1)?.content.startsWith('Summarise') ? `Up to ${count}.` : 'ok');
      });
      const { status } = await service.client.post('/v1/chat/completions', chat(count));
      expect(status).toBe(200);
      summaries += jobs().length - 1;
      const turns = lastTurns();
      expect(turns.slice(0, 2)).toEqual([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look at all files.' },
      ]);
      expect(sizeOf(turns)).toBeLessThanOrEqual(700);
      const common = turns.findIndex((turn, at) => JSON.stringify(turn) !== JSON.stringify(before[at]));
      evaluated += sizeOf(turns.slice(common));
      read += sizeOf(turns);
      before = turns;
      service.engine.forgetScripts();
    }
    expect(evaluated / read).toBeLessThan(0.6);
    expect(summaries).toBeLessThanOrEqual(5);
    service.engine.played.length = 0;
    await service.client.post('/v1/chat/completions', chat(59));
    expect(jobs()).toHaveLength(1);
  });

  it.each(['0%', '100%', '99', 'on', '75 %', ''])('cannot be set to %j', async (compact) => {
    await expect(setParams(service.registry, installed.slashed, { compact })).rejects.toThrow();
  });
});
