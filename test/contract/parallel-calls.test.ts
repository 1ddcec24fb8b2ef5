/** Several calls in one answer of POST /v1/chat/completions: only where the request asks for it. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { done, started, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const weather = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };
const call = (...pieces: string[]): JobEvent[] => [
  { type: 'tool_call', name: 'weather' },
  ...pieces.map((piece): JobEvent => ({ type: 'tool_arguments', text: piece })),
];
const script = [
  started(),
  text('Look:'),
  ...call('{"city":', '"Oslo"}'),
  ...call('{"city":"Rome"}'),
  ...call('{"city":"Oslo"}'),
  done('tool_calls'),
];
const asked = { tools: [weather], parallel_tool_calls: true };
const lastJob = (): GenerateJob => {
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate') throw new Error('not a chat job');
  return job;
};

describe('several calls', () => {
  it('are allowed where the request says so, and one at most elsewhere', async () => {
    await service.client.chat(asked);
    expect(lastJob().maxCalls).toBe(64);
    for (const fields of [{}, { parallel_tool_calls: false }, { parallel_tool_calls: null }]) {
      await service.client.chat({ tools: [weather], ...fields });
      expect(lastJob().maxCalls ?? 1).toBe(1);
    }
  });

  it('stand in the message in order, each with an id of its own', async () => {
    service.engine.plays(script, script);
    const { body } = await service.client.chat(asked);
    const [choice] = body.choices;
    const calls = choice.message.tool_calls as { id: string; function: { arguments: string } }[];
    expect([choice.finish_reason, choice.message.content]).toEqual(['tool_calls', 'Look:']);
    expect(calls.map((each) => each.function.arguments)).toEqual([
      '{"city":"Oslo"}',
      '{"city":"Rome"}',
      '{"city":"Oslo"}',
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    const again = (await service.client.chat(asked)).body.choices[0].message.tool_calls;
    expect(again).toEqual(calls);
  });

  it('are streamed one after the other, as deltas with their index', async () => {
    service.engine.plays(script, script);
    const whole = (await service.client.chat(asked)).body.choices[0].message.tool_calls;
    const { chunks } = await (await service.client.streamChat(asked)).all();
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(deltas.map(({ index }) => index)).toEqual([0, 0, 0, 1, 1, 2, 2]);
    const joined = [0, 1, 2].map((at) => {
      const own = deltas.filter(({ index }) => index === at);
      const args = own.map((delta) => delta.function.arguments).join('');
      return { id: own[0]?.id, type: 'function', function: { name: own[0]?.function.name, arguments: args } };
    });
    expect(joined).toEqual(whole);
  });

  it('of which one is not valid are an error, and none of those behind it leaves', async () => {
    const bad = [started(), ...call('{"city":"Oslo"}'), ...call('{"city":3}'), done('tool_calls')];
    service.engine.plays(bad, [started(), ...call('{"city":4}'), done('tool_calls')]);
    expect((await service.client.chat(asked)).body.code).toBe('answer_invalid');
  });

  it('may have their results in any order: the model reads them in the order of the calls', async () => {
    const written = (id: string, city: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: JSON.stringify({ city }) },
    });
    const messages = [
      { role: 'user', content: 'Cold?' },
      { role: 'assistant', content: null, tool_calls: [written('a', 'Oslo'), written('b', 'Rome')] },
      { role: 'tool', tool_call_id: 'b', content: 'warm' },
      { role: 'tool', tool_call_id: 'a', content: 'cold' },
    ];
    await service.client.chat({ ...asked, messages });
    const { prompt } = lastJob();
    const turns = prompt.kind === 'chat' ? prompt.turns : [];
    expect(turns.slice(2).map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ['a', 'cold'],
      ['b', 'warm'],
    ]);
  });
});
