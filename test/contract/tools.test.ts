/** What leaves for the client, exactly, over a scripted engine: calls, checks, refusals, dry runs. */
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { DoneEvent, JobEvent } from '../../src/contract/job-event.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { DryRun } from '../../src/wire/inference/dry-run.ts';
import { answer, done, started, type Step, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const strict = scriptedService({ strictParams: true });
const chat = (fields: object) => service.client.chat(fields);

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells it.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const call = (...pieces: string[]): JobEvent[] => [
  { type: 'tool_call', name: 'weather' },
  ...pieces.map((piece): JobEvent => ({ type: 'tool_arguments', text: piece })),
];
const format = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'x', schema } });
const object = { type: 'object', properties: { n: { type: 'integer', maximum: 5 } }, required: ['n'] };

describe('a call', () => {
  const played = [started(), ...call('{"city":', '"Oslo"}'), done('tool_calls')];

  it('has an id that the same question repeats and another question does not', async () => {
    service.engine.plays(played, played, played);
    const idOf = async (fields: object) =>
      (await chat({ tools: [weather], ...fields })).body.choices[0].message.tool_calls[0].id as string;
    const first = await idOf({});
    expect(await idOf({})).toBe(first);
    const history = [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: first, type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: 'tool', tool_call_id: first, content: 'cold' },
    ];
    expect(await idOf({ messages: history })).not.toBe(first);
  });

  it('that the limit cut is no call', async () => {
    service.engine.plays([started(), ...call('{"city":"Os'), done('length')]);
    const [choice] = (await chat({ tools: [weather] })).body.choices;
    expect(choice).toMatchObject({ finish_reason: 'length', message: { content: '' } });
    expect(choice.message).not.toHaveProperty('tool_calls');
  });

  it('that is whole is delivered although the limit cut what follows it', async () => {
    const second = call('{"city":"Ro');
    service.engine.plays([started(), ...call('{"city":"Oslo"}'), text('I'), ...second, done('length')]);
    const [choice] = (await chat({ tools: [weather] })).body.choices;
    expect(choice).toMatchObject({ finish_reason: 'length', message: { content: 'I' } });
    expect(choice.message.tool_calls).toMatchObject([{ function: { arguments: '{"city":"Oslo"}' } }]);
  });

  it('that an engine cuts by a limit of its own is made once more, and delivered whole', async () => {
    const cut = [started(), text('I look.'), ...call('{"city":"Os'), done('length', 8)];
    const whole = [started(), ...call('{"city":"Oslo"}'), done('tool_calls', 9)];
    const before = service.engine.played.length;
    service.engine.plays(cut, whole, cut, whole);
    const { body } = await chat({ tools: [weather] });
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'I look.', tool_calls: [{ function: { arguments: '{"city":"Oslo"}' } }] },
    });
    expect(body.usage.completion_tokens).toBe(17);
    const { chunks } = await (await service.client.streamChat({ tools: [weather], max_tokens: 50 })).all();
    const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(pieces.map((piece) => piece.function.arguments).join('')).toBe('{"city":"Oslo"}');
    const jobs = service.engine.played.slice(before).map(({ submission }) => submission.job as GenerateJob);
    expect(jobs.map(({ maxTokens, toolChoice }) => [maxTokens, toolChoice.mode])).toEqual([
      [null, 'auto'],
      [8192, 'named'],
      [50, 'auto'],
      [42, 'named'],
    ]);
  });

  it.each([
    ['is cut again', [started(), ...call('{"city":"O'), done('length', 9)]],
    ['fails', [fail('upstream_broken', { upstream: 'box', what: 'cut', reason: 'it went' })]],
  ] as [string, Step[]][])('that is cut is no call where its second try %s', async (_, second) => {
    service.engine.plays([started(), ...call('{"city":"Os'), done('length', 8)], second);
    const { status, body } = await chat({ tools: [weather] });
    expect([status, body.choices[0].finish_reason]).toEqual([200, 'length']);
    expect(body.choices[0].message).not.toHaveProperty('tool_calls');
  });

  it('that a full window, the limit of the request or the guard of repetition cut is not tried again', async () => {
    const cuts: [Step[], object][] = [
      [
        [
          started(64, 50),
          ...call('{"city":"Os'),
          {
            ...(done('length', 14) as DoneEvent),
            usage: { promptTokens: 50, cachedTokens: 0, completionTokens: 14, reasoningTokens: 0 },
          },
        ],
        {},
      ],
      [[started(), ...call('{"city":"Os'), done('length', 8)], { max_tokens: 8 }],
      [[started(), ...call('{"city":"Os'), { ...(done('length', 8) as DoneEvent), repetition: 'ended' }], {}],
    ];
    for (const [script, fields] of cuts) {
      const before = service.engine.played.length;
      service.engine.plays(script);
      expect((await chat({ tools: [weather], ...fields })).body.choices[0].finish_reason).toBe('length');
      expect(service.engine.played.length - before).toBe(1);
    }
  });

  it.each([
    ['ends behind it', [[started(), ...call('{"city":3}'), done('length', 50)]]],
    ['ends behind text that follows it', [[started(), ...call('{"city":3}'), text('x'), done('length', 50)]]],
    ['leaves it no token for another try', [[started(), ...call('{"city":3}'), done('tool_calls', 50)]]],
    [
      'cuts its second try',
      [
        [started(), ...call('{"city":3}'), done('tool_calls', 30)],
        [started(), ...call('{"city":'), done('length', 20)],
      ],
    ],
    [
      'leaves two of them broken',
      [[started(), ...call('{"city":3}'), ...call('{"city":4}'), text('x'), done('length', 50)]],
    ],
  ])('that is not valid is no call where the limit %s', async (_, scripts) => {
    service.engine.plays(...scripts);
    const [choice] = (await chat({ tools: [weather], max_tokens: 50 })).body.choices;
    expect(choice.finish_reason).toBe('length');
    expect(choice.message).not.toHaveProperty('tool_calls');
  });

  it('whose second try does not fit into the window is no call', async () => {
    const full = fail('context_length_exceeded', { promptTokens: 64, numCtx: 64 });
    service.engine.plays([started(), ...call('{"city":3}'), done('tool_calls', 9)], [full]);
    const [choice] = (await chat({ tools: [weather] })).body.choices;
    expect(choice.finish_reason).toBe('length');
  });

  it.each([
    ['with arguments outside the schema', call('{"city":3}')],
    ['with broken arguments', call('{"city":')],
    [
      'of an unknown tool',
      [
        { type: 'tool_call', name: 'rm' },
        { type: 'tool_arguments', text: '{}' },
      ] as JobEvent[],
    ],
  ])('%s is an error, whole and streamed', async (_, events) => {
    const script = [started(), ...events, done('tool_calls')];
    // A call of a tool that exists is tried twice.
    const tries = JSON.stringify(events).includes('rm') ? 2 : 4;
    service.engine.plays(...Array.from({ length: tries }, () => script));
    const whole = await chat({ tools: [weather] });
    expect([whole.status, whole.body.code]).toEqual([500, 'answer_invalid']);
    const stream = await (await service.client.streamChat({ tools: [weather] })).all();
    expect(stream.error).toMatchObject({ code: 'answer_invalid' });
    expect(stream.done).toBe(false);
    expect(JSON.stringify(stream.chunks)).not.toContain('tool_calls');
  });

  it('that is not valid is made once more, with the tokens that are left', async () => {
    service.engine.plays(
      [started(), ...call('{"city":3}'), done('tool_calls')],
      [started(), ...call('{"city":"Oslo"}'), done('tool_calls')],
    );
    const { body } = await chat({ tools: [weather], max_tokens: 50 });
    expect(body.choices[0].message.tool_calls[0].function.arguments).toBe('{"city":"Oslo"}');
    const again = service.engine.played.at(-1)?.submission.job as GenerateJob;
    expect(again.toolChoice).toEqual({ mode: 'named', name: 'weather' });
    expect(JSON.stringify(again.prompt)).toContain('/city must be string');
    expect(again.maxTokens).toBeLessThan(50);
  });

  it('that was required and did not come is an error', async () => {
    service.engine.plays(answer('no'));
    expect((await chat({ tools: [weather], tool_choice: 'required' })).body.code).toBe('answer_invalid');
  });

  it.each([
    [{}, undefined],
    [{ seed: -1 }, undefined],
    [{ temperature: 0 }, 'false'],
    [{ seed: 7 }, 'false'],
  ])('that is invalid every time is not to be asked for again: %j', async (fields, advice) => {
    const invalid = [started(), ...call('{"city":3}'), done('tool_calls')];
    service.engine.plays(answer('no'), invalid, invalid, answer('no'));
    const replies = [
      await chat({ tools: [weather], tool_choice: 'required', ...fields }),
      await chat({ tools: [weather], ...fields }),
      await chat({ response_format: format(object), ...fields }),
    ];
    for (const { status, headers, body } of replies)
      expect([status, body.code, headers['x-should-retry']]).toEqual([500, 'answer_invalid', advice]);
  });
});

describe('a structured answer', () => {
  it('is delivered when it is valid', async () => {
    service.engine.plays(answer('{"n":', '5}'));
    const { body } = await chat({ response_format: format(object) });
    expect(body.choices[0].message.content).toBe('{"n":5}');
  });

  it.each(['{"n":6}', '{"n":', 'words', '[]', '{}'])('is an error when it is %s', async (content) => {
    service.engine.plays(answer(content), answer(content));
    expect((await chat({ response_format: format(object) })).body.code).toBe('answer_invalid');
    const stream = await (await service.client.streamChat({ response_format: format(object) })).all();
    expect(stream.error).toMatchObject({ code: 'answer_invalid' });
    expect(stream.done).toBe(false);
  });

  it('that the limit cut is delivered as what it is', async () => {
    service.engine.plays([started(), text('{"n"'), done('length')]);
    const [choice] = (await chat({ response_format: format(object) })).body.choices;
    expect(choice).toMatchObject({ finish_reason: 'length', message: { content: '{"n"' } });
  });

  it('has its tuples and nullable members checked in the words of their drafts', async () => {
    const tuple = {
      type: 'array',
      items: [{ const: 1 }, { type: 'string', nullable: true }],
      additionalItems: false,
      minItems: 2,
    };
    service.engine.plays(answer('[1,null]'), answer('[2,"a"]'));
    expect((await chat({ response_format: format(tuple) })).status).toBe(200);
    expect((await chat({ response_format: format(tuple) })).body.code).toBe('answer_invalid');
  });
});

describe('an answer to a schema that is translated for the check', () => {
  const a = { type: 'string', maxLength: 2 };
  const shared = { type: 'object', nullable: true, properties: { c: a }, required: ['c'] };
  it.each<[string, object, string, string]>([
    [
      'a nullable root with definitions',
      {
        nullable: true,
        type: 'object',
        properties: { a: { $ref: '#/$defs/A' } },
        required: ['a'],
        $defs: { A: a },
      },
      '{"a":"ok"}',
      '{"a":"not"}',
    ],
    [
      'a reference through a nullable member',
      {
        type: 'object',
        properties: { a: { $ref: '#/properties/b/properties/c' }, b: shared },
        required: ['a', 'b'],
      },
      '{"a":"ok","b":null}',
      '{"a":"not","b":null}',
    ],
    [
      'a reference into a tuple of draft 7',
      { type: 'array', items: [a, { $ref: '#/items/0' }], minItems: 2 },
      '["ok","ok"]',
      '["ok","not"]',
    ],
    [
      'a nullable reference',
      { type: 'array', items: { allOf: [{ $ref: '#/$defs/A' }], nullable: true }, $defs: { A: a } },
      '["ok",null]',
      '["not"]',
    ],
    [
      'a recursion through a nullable root',
      { type: 'object', nullable: true, properties: { child: { $ref: '#' } }, additionalProperties: false },
      '{"child":{"child":null}}',
      '{"child":{"other":null}}',
    ],
    [
      'one large definition under many names',
      {
        anyOf: Array.from({ length: 600 }, () => ({ $ref: '#/$defs/L' })),
        $defs: {
          L: {
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`p${at}`, a])),
          },
        },
      },
      '{"p1":"ok"}',
      '{"p1":"not"}',
    ],
    [
      'two patterns',
      {
        type: 'array',
        items: [
          { type: 'string', pattern: '^a$' },
          { type: 'string', pattern: '^b$' },
        ],
      },
      '["a","b"]',
      '["a","a"]',
    ],
    [
      'nullable parts of which one forbids null',
      { type: 'array', items: { allOf: [{ ...a, nullable: true }, { type: 'string' }] } },
      '["ok"]',
      '[null]',
    ],
  ])('is judged by the schema as it was written: %s', async (_, schema, right, wrong) => {
    service.engine.plays(answer(right), answer(wrong));
    const { status, body } = await chat({ response_format: format(schema) });
    expect([status, body.error]).toEqual([200, undefined]);
    expect((await chat({ response_format: format(schema) })).body.code).toBe('answer_invalid');
  });
});

describe('a schema that the check cannot read', () => {
  const a = { type: 'string' };
  it.each<[string, object]>([
    ['more sub-schemas than it may have', { type: 'string', items: Array.from({ length: 9_000 }, () => a) }],
  ])('is refused before anything is generated: %s beside another type', async (_, schema) => {
    const jobs = service.engine.played.length;
    for (const [fields, param] of [
      [{ response_format: format(schema) }, 'response_format.json_schema.schema'],
      [{ tools: [{ name: 'a', parameters: { properties: { b: schema } } }] }, 'tools[0].parameters'],
    ] as const) {
      const { status, body } = await chat(fields);
      expect([status, body.code, body.param]).toEqual([400, 'invalid_request', param]);
    }
    expect(service.engine.played.length).toBe(jobs);
  });
});

describe('a request is refused by the name of what is wrong', () => {
  it.each([
    [{ tools: ['x'] }, 'tools[0]'],
    [{ tools: [{ type: 'retrieval' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ tools: [{ name: 'two words' }] }, 'tools[0].name'],
    [{ tools: [{ name: 'a' }, { name: 'a' }] }, 'tools[1]'],
    [{ tools: [{ name: 'a', description: 1 }] }, 'tools[0].description'],
    [{ tools: [weather], tool_choice: 'always' }, 'tool_choice'],
    [
      { tools: [weather], tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice.function.name',
    ],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
      'response_format.json_schema.schema',
    ],
    [{ response_format: format({ colour: {} }) }, 'response_format.json_schema.schema.colour'],
    [{ response_format: { type: 'json_object' }, grammar: 'root ::= "a"' }, 'grammar'],
    [{ tools: [weather], grammar: 'root ::= "a"' }, 'grammar'],
    [{ n: 5 }, 'n'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages[0].content[0]',
    ],
    [{ messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
    [
      { messages: [{ role: 'assistant', content: null, tool_calls: [{ id: 'c' }] }] },
      'messages[0].tool_calls[0].function',
    ],
  ])('%j → %s', async (fields, param) => {
    const { status, body } = await chat(fields);
    expect([status, body.param]).toEqual([400, param]);
    expect(body.message).toContain(param);
  });
});

describe('fields', () => {
  it('that change nothing are named', async () => {
    const { headers } = await chat({
      reasoning_effort: 'low',
      parallel_tool_calls: true,
      top_logprobs: 2,
      user: 'me',
      store: true,
    });
    const ignored = String(headers['x-svc-ignored-params']).split(',');
    expect(ignored).toEqual(
      expect.arrayContaining(['reasoning_effort', 'parallel_tool_calls', 'top_logprobs', 'user', 'store']),
    );
  });

  it('reach the engine in its own words', async () => {
    await chat({
      tools: [weather, { name: 'bare' }],
      tool_choice: { type: 'function', function: { name: 'bare' } },
      reasoning_effort: 'none',
      reasoning_budget: 9,
      messages: [
        { role: 'developer', content: 'd' },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }],
        },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [
            { type: 'text', text: 'co' },
            { type: 'text', text: 'ld' },
          ],
        },
      ],
    }).catch(() => undefined);
    expect(service.engine.lastJob.submission.job).toMatchObject({
      toolChoice: { mode: 'named', name: 'bare' },
      tools: [
        { name: 'weather' },
        { name: 'bare', description: '', parameters: { type: 'object', properties: {} } },
      ],
      reasoning: { enabled: false, budgetTokens: 9 },
      prompt: {
        turns: [
          { role: 'system', content: 'd' },
          {
            role: 'assistant',
            content: '',
            reasoning: 'hm',
            toolCalls: [{ id: 'c1', name: 'weather', argumentsJson: '{}' }],
          },
          { role: 'tool', content: 'cold', toolCallId: 'c1', name: 'weather' },
        ],
      },
    });
  });
});

describe('a dry run', () => {
  it('explains and generates nothing', async () => {
    const explained: JobEvent = {
      type: 'explained',
      renderedPrompt: '<user>Hello',
      promptTokens: 3,
      cachedTokens: 2,
      sequence: 1,
      numCtx: 64,
      toolFormat: 'hermes',
    };
    service.engine.plays([explained]);
    const body = {
      model: 'default',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 0.5,
      user: 'me',
    };
    const response = await fetch(`${service.url}/v1/chat/completions?svc_dry_run=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const report = await response.json();
    expect(new Ajv({ strict: false }).validate(DryRun, report), JSON.stringify(report)).toBe(true);
    expect(report).toMatchObject({
      object: 'svc.dry_run',
      rendered_prompt: '<user>Hello',
      prompt_tokens: 3,
      cached_tokens: 2,
      slot: 1,
      num_ctx: 64,
      fits: true,
      tool_format: 'hermes',
      parameters: { temperature: 0.5, n: 1 },
      ignored_parameters: ['user'],
      would_load: false,
      would_evict: [],
    });
    expect(service.engine.lastJob.submission.job.kind).toBe('explain');
    expect(response.headers.get('x-svc-boot-id')).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('what no grammar enforces in a tool', () => {
  const parameters = {
    type: 'object',
    properties: { 'a/b': { type: 'array', items: { type: 'object' }, uniqueItems: true } },
  };
  const tools = [weather, { type: 'function', function: { name: 'f', parameters } }];
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`p${n}`, parameters.properties['a/b']]),
  );

  it('is named by tool, place and keyword, and the rest counted', async () => {
    for (const times of [1, 2]) {
      const { status, headers } = await chat({ tools });
      expect([status, headers['x-svc-relaxed']], `time ${times}`).toEqual([
        200,
        'f#/properties/a~1b/uniqueItems',
      ]);
    }
    expect((await chat({ tools: [weather] })).headers['x-svc-relaxed']).toBeUndefined();
    const crowd = {
      type: 'function',
      function: { name: 'f', parameters: { type: 'object', properties: many } },
    };
    expect((await chat({ tools: [crowd] })).headers['x-svc-relaxed']).toMatch(
      /^f#\/properties\/p0\/.*, \+6 more$/,
    );
  });

  it('is a 400 where the operator wants it to be, also after it was relaxed elsewhere', async () => {
    const words = { type: 'object', properties: { a: { type: 'string', pattern: String.raw`\bone\b` } } };
    const asked = { tools: [{ type: 'function', function: { name: 'f', parameters: words } }] };
    expect((await chat(asked)).headers['x-svc-relaxed']).toBe('f#/properties/a/pattern');
    const { status, body } = await strict.client.chat(asked);
    expect([status, body.param]).toEqual([400, expect.stringMatching(/^tools\[0\]\.function\.parameters/)]);
    expect((await strict.client.chat({ tools: [weather] })).status).toBe(200);
  });
});
