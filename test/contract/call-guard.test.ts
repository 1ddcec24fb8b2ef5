/** A tool call that gave the same result again and again is refused, in every dialect; what is no circle goes on. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { answer, done, type Script, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const model = installed.chat;
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const call = (city = 'Oslo'): JobEvent[] => [
  { type: 'tool_call', name: 'weather' },
  { type: 'tool_arguments', text: `{"city":"${city}"}` },
];
const calls = (...cities: string[]): Script => [started(), ...cities.flatMap(call), done('tool_calls')];

/** A step of the history: the city that was asked for, and what came back. */
type Step = readonly [city: string, result: string];
const same = (times: number, result = 'cold'): Step[] =>
  Array.from({ length: times }, () => ['Oslo', result]);
const QUESTION = 'How is the weather?';

/** The same history in each dialect. */
const dialects: Readonly<Record<string, (steps: readonly Step[]) => object>> = {
  '/v1/chat/completions': (steps) => ({
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    messages: [{ role: 'user', content: QUESTION }, ...steps.flatMap(chatStep)],
  }),
  '/v1/responses': (steps) => ({
    tools: [{ type: 'function', name: 'weather', parameters }],
    store: false,
    input: [
      { role: 'user', content: QUESTION },
      ...steps.flatMap(([city, output], at) => [
        { type: 'function_call', call_id: `c${at}`, name: 'weather', arguments: `{ "city": "${city}" }` },
        { type: 'function_call_output', call_id: `c${at}`, output },
      ]),
    ],
  }),
  '/v1/messages': (steps) => ({
    max_tokens: 100,
    tools: [{ name: 'weather', input_schema: parameters }],
    messages: [
      { role: 'user', content: QUESTION },
      ...steps.flatMap(([city, content], at) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `c${at}`, name: 'weather', input: { city } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: `c${at}`, content },
            { type: 'text', text: '<system-reminder>Stay on the task.</system-reminder>' },
          ],
        },
      ]),
    ],
  }),
  '/api/chat': (steps) => ({
    stream: false,
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    messages: [
      { role: 'user', content: QUESTION },
      ...steps.flatMap(([city, content]) => [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'weather', arguments: { city } } }],
        },
        { role: 'tool', tool_name: 'weather', content },
      ]),
    ],
  }),
};

function chatStep([city, content]: Step, at: number): object[] {
  const made = {
    id: `c${at}`,
    type: 'function',
    function: { name: 'weather', arguments: `{"city":"${city}"}` },
  };
  return [
    { role: 'assistant', content: '', tool_calls: [made] },
    { role: 'tool', tool_call_id: `c${at}`, content },
  ];
}

const jobsSince = (before: number): GenerateJob[] =>
  service.engine.played.slice(before).map(({ submission }) => submission.job as GenerateJob);
const path = '/v1/chat/completions';

async function ask(steps: readonly Step[], fields: object = {}, at = path) {
  const before = service.engine.played.length;
  const body = { model, ...dialects[at]?.(steps), ...fields };
  const reply = await service.client.post(at, body);
  service.engine.forgetScripts();
  return { ...reply, jobs: jobsSince(before), guard: reply.headers['x-svc-call-guard'] };
}

describe.each(Object.keys(dialects))('a call that gave the same result five times, in %s', (at) => {
  it('is refused, and the model answers otherwise after it has read why', async () => {
    service.engine.plays(calls('Oslo'), answer('It is cold.'));
    const { status, body, guard, jobs } = await ask(same(5), {}, at);
    expect([status, guard, body.svc_call_guard]).toEqual([200, 'refused', 'refused']);
    expect(JSON.stringify(body)).toContain('It is cold.');
    expect(JSON.stringify(body)).not.toMatch(/tool_use"|"tool_calls":|function_call"/);
    expect(jobs).toHaveLength(2);
    const { prompt } = jobs[1] as GenerateJob;
    expect(prompt.kind === 'chat' && prompt.turns.slice(-2)).toMatchObject([
      { role: 'assistant', toolCalls: [{ name: 'weather' }] },
      { role: 'tool', content: expect.stringMatching(/same result 5 times/) },
    ]);
  });

  it('is named in a stream as well', async () => {
    service.engine.plays(calls('Oslo'), answer('It is cold.'));
    const { status, text: sent } = await ask(same(5), { stream: true }, at);
    expect([status, sent.includes('"svc_call_guard":"refused"')]).toEqual([200, true]);
    expect(sent).toContain('It is cold.');
  });

  it('is made where it was four times, or gave another result in between', async () => {
    for (const steps of [
      same(4),
      [...same(4), ...same(1, 'warm')],
      [...same(4), ...same(1, 'warm'), ...same(4)],
    ]) {
      service.engine.plays(calls('Oslo'));
      const { body, guard, jobs } = await ask(steps, {}, at);
      expect([guard, jobs.length]).toEqual([undefined, 1]);
      expect(JSON.stringify(body)).toMatch(/weather/);
    }
  });
});

it.each(Object.keys(dialects))(
  'ends the task of an agent over a model that only makes one call, in %s',
  async (at) => {
    const steps: Step[] = [];
    for (let turn = 1; turn <= 20; turn += 1) {
      // It insists, too, as long as it is given tools.
      service.engine.plays(calls('Oslo'), calls('Oslo'), answer('It is cold.'));
      const { body, guard } = await ask(steps, {}, at);
      const isCall = !JSON.stringify(body).includes('It is cold.');
      expect([turn, isCall, guard]).toEqual(turn <= 5 ? [turn, true, undefined] : [turn, false, 'ended']);
      if (!isCall) return;
      steps.push(['Oslo', `cold at 10:00:0${turn}`]);
    }
    throw new Error('it went on and on');
  },
);

it('counts the calls whose results the request has cleared for the model', async () => {
  service.engine.plays(calls('Oslo'), answer('It is cold.'));
  const edit = { type: 'clear_tool_uses_20250919', trigger: { type: 'tool_uses', value: 3 } };
  service.engine.sizes = (job) => ({ promptTokens: JSON.stringify(job).length, numCtx: 100_000 });
  const long = same(8, 'cold '.repeat(100));
  const { body } = await ask(long, { context_management: { edits: [edit] } }, '/v1/messages');
  expect(body.context_management.applied_edits).toMatchObject([{ cleared_tool_uses: 5 }]);
  expect(body.svc_call_guard).toBe('refused');
});

describe('what is no circle', () => {
  it.each<[string, Step[], string]>([
    ['other arguments', same(9), 'Rome'],
    ['a call that was new since', [...same(5), ['Rome', 'warm']], 'Oslo'],
    [
      'work between checks that fail alike',
      Array.from({ length: 9 }, (_, at): Step[] => [
        ['Oslo', 'cold'],
        [`edit ${at}`, 'done'],
      ]).flat(),
      'Oslo',
    ],
    [
      'a check that failed alike after each edit',
      Array.from({ length: 9 }, (_, at): Step[] => [
        [`edit ${at}`, 'done'],
        ['Oslo', 'cold'],
      ]).flat(),
      'Oslo',
    ],
    ['a poll that counts', Array.from({ length: 30 }, (_, at): Step => ['Oslo', `${at} %`]), 'Oslo'],
  ])('goes on: %s', async (_, steps, city) => {
    service.engine.plays(calls(city));
    const { body, guard } = await ask(steps);
    expect(guard).toBeUndefined();
    expect(body.choices[0].message.tool_calls).toHaveLength(1);
  });

  it('goes on: after words of the user', async () => {
    service.engine.plays(calls('Oslo'));
    const messages = [{ role: 'user', content: QUESTION }, ...same(9).flatMap(chatStep)];
    const { guard, body } = await ask([], { messages: [...messages, { role: 'user', content: 'Again.' }] });
    expect([guard, body.choices[0].finish_reason]).toEqual([undefined, 'tool_calls']);
  });

  it('goes on: nine equal calls of one message with equal results', async () => {
    service.engine.plays(calls('Oslo'));
    const made = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Oslo"}' },
    });
    const ids = Array.from({ length: 9 }, (_, at) => `c${at}`);
    const messages = [
      { role: 'user', content: QUESTION },
      { role: 'assistant', content: '', tool_calls: ids.map(made) },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'cold' })),
    ];
    expect((await ask([], { messages })).guard).toBeUndefined();
  });

  it('goes on: the tool that the client names', async () => {
    service.engine.plays(calls('Oslo'));
    const tool_choice = { type: 'function', function: { name: 'weather' } };
    expect((await ask(same(9), { tool_choice })).guard).toBeUndefined();
  });
});

describe('a circle', () => {
  it('of two calls in turn is noticed', async () => {
    const steps = Array.from({ length: 7 }, (): Step[] => [
      ['Oslo', 'cold'],
      ['Rome', 'warm'],
    ]).flat();
    service.engine.plays(calls('Oslo'), answer('Enough.'));
    expect((await ask(steps)).guard).toBe('refused');
  });

  it('that the model insists on ends in words, because the last try has no tools', async () => {
    service.engine.plays(
      [started(), text('Once more'), ...call(), done('tool_calls', 5)],
      calls('Oslo'),
      answer('Cold.'),
    );
    const { body, guard, jobs } = await ask(same(6), { max_tokens: 50 });
    expect(guard).toBe('ended');
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'Once more\n\nCold.' },
    });
    expect(jobs.map(({ toolChoice, maxTokens }) => [toolChoice.mode, maxTokens])).toEqual([
      ['auto', 50],
      ['auto', 45],
      ['none', 43],
    ]);
    expect(body.usage.completion_tokens).toBe(8);
  });

  it('ends all the same where an engine calls a tool without being given one', async () => {
    service.engine.plays(calls('Oslo'), calls('Oslo'), calls('Oslo'));
    const { body, guard } = await ask(same(5));
    expect([guard, body.choices[0].finish_reason]).toEqual(['ended', 'stop']);
    expect(body.choices[0].message).not.toHaveProperty('tool_calls');
  });

  it('is left out beside a call that is new', async () => {
    service.engine.plays(calls('Oslo', 'Rome'));
    const { body, guard, jobs } = await ask(same(5), { parallel_tool_calls: true });
    expect([guard, jobs.length]).toEqual(['dropped', 1]);
    expect(body.choices[0].message.tool_calls).toMatchObject([
      { function: { arguments: '{"city":"Rome"}' } },
    ]);
  });

  it('may go on where the answer must call a tool, once the model was told', async () => {
    service.engine.plays(calls('Oslo'), calls('Oslo'));
    const { body, guard } = await ask(same(5), { tool_choice: 'required' });
    expect([guard, body.choices[0].finish_reason]).toEqual(['refused', 'tool_calls']);
  });

  it.each([
    ['the limit leaves no token', [calls('Oslo')], { max_tokens: 2 }],
    [
      'the reason does not fit into the window',
      [calls('Oslo'), [fail('context_length_exceeded', { promptTokens: 64, numCtx: 64 })]],
      {},
    ],
  ] as [string, Script[], object][])('ends without an answer where %s', async (_, scripts, fields) => {
    service.engine.plays(...scripts);
    const { body, guard } = await ask(same(5), fields);
    expect([guard, body.choices[0].finish_reason]).toEqual(['ended', 'length']);
    expect(body.choices[0].message).not.toHaveProperty('tool_calls');
  });
});

describe('call_guard', () => {
  it('sets the number of results per request and per model, and 0 turns the guard off', async () => {
    service.engine.plays(calls('Oslo'), answer('Cold.'));
    expect((await ask(same(2), { call_guard: 2 })).guard).toBe('refused');
    service.engine.plays(calls('Oslo'));
    expect((await ask(same(40), { call_guard: 0 })).guard).toBeUndefined();
    await setParams(service.registry, installed.slashed, { callGuard: 0 });
    service.engine.plays(calls('Oslo'));
    expect((await ask(same(40), { model: installed.slashed })).guard).toBeUndefined();
  });
});
