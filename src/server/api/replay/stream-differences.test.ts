/** A saved stream beside its signed answer: what the service writes agrees, and what was changed is named. */
import { describe, expect, it } from 'vitest';
import type { DoneEvent, SampledToken } from '../../../contract/job-event.ts';
import { streamDifferences } from '../../../trust/evidence/stream-differences.ts';
import type { AnswerEvent } from '../chat/choice-guard.ts';
import type { AnswerPart } from '../chat/collected.ts';
import { ChunkWriter } from '../dialects/chat-completions/chunk-writer.ts';
import { wireAnswer } from '../dialects/chat-completions/whole-answer.ts';

const done: DoneEvent = {
  type: 'done',
  finishReason: 'length',
  usage: { promptTokens: 7, completionTokens: 5, cachedTokens: 0, reasoningTokens: 1 },
  timings: { prefillMs: 1, decodeMs: 1 },
};
const token = (text: string): SampledToken => {
  const chosen = { text, bytes: [...Buffer.from(text)], logprob: -0.25 };
  return { chosen, top: [chosen] };
};
const call = (index: number): Extract<AnswerEvent, { type: 'call' }> => ({
  type: 'call',
  index,
  id: `call_${index}`,
  name: 'weather',
  pieces: ['{"city":', '"Oslo"}'],
});
const tokens = [token('Two '), token('rivers')];
const events = [
  { type: 'started', numCtx: 64 },
  { type: 'reasoning', text: 'Hm' },
  { type: 'reasoning', text: 'm.' },
  { type: 'text', text: 'Two ', tokens: tokens.slice(0, 1) },
  { type: 'text', text: 'rivers', tokens: tokens.slice(1) },
  call(0),
  call(1),
  done,
] as AnswerEvent[];
const parts: AnswerPart[] = [
  { type: 'reasoning', text: 'Hmm.' },
  { type: 'text', text: 'Two rivers' },
  call(0),
  call(1),
];

const answer = {
  model: 'm',
  ...wireAnswer({ answers: [{ parts, tokens, promptTokens: [], done }] }),
};
const written = (readsOpenAi: boolean): object[] => {
  const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' } as const;
  const writer = new ChunkWriter(head, 1, { includeUsage: true, readsOpenAi });
  return events.flatMap((event) => writer.write(0, event));
};
const differences = (chunks: readonly unknown[]) =>
  streamDifferences(JSON.parse(JSON.stringify(chunks)), answer);

describe('a saved stream', () => {
  it.each([true, false])('says what the record says, OpenAI’s finish reasons: %s', (readsOpenAi) => {
    expect(differences(written(readsOpenAi))).toEqual([]);
    expect(differences([])).toEqual([]);
  });

  it.each(written(true).map((chunk, at) => [at, JSON.stringify(chunk).slice(60, 160)]))(
    'does not without its event %i: %s',
    (at) => {
      const chunks = written(true);
      const { choices } = chunks[at] as { choices: unknown[] };
      // Usage may be left out; everything else is part of the answer.
      const isUsage = choices.length === 0;
      expect(differences(chunks.toSpliced(at, 1)).length > 0).toBe(!isUsage);
      if (!isUsage) expect(differences(chunks.toSpliced(at, 0, chunks[at] ?? {}))).not.toEqual([]);
    },
  );

  const MUTATIONS: readonly (readonly [string, RegExp, string])[] = [
    ['text', /rivers/, 'lakes'],
    ['reasoning', /Hm/, 'Oh'],
    ['the name of a tool', /weather/, 'delete'],
    ['arguments', /Oslo/, 'Rome'],
    ['the id of a call', /call_0/, 'call_9'],
    ['a log probability', /-0\.25/, '-0.5'],
    ['the finish reason', /"finish_reason":"length"/, '"finish_reason":"tool_calls"'],
    ['the true finish reason', /"svc_finish_reason":"length"/, '"svc_finish_reason":"stop"'],
    ['the model', /"model":"m"/, '"model":"n"'],
    ['usage', /"prompt_tokens":7/, '"prompt_tokens":8'],
    ['the type of text', /"content":"rivers"/, '"content":["rivers"]'],
    ['another choice', /"choices":\[/, '"choices":[{"index":1,"delta":{"content":"x"}},'],
    ['another member of a delta', /"content":"rivers"/, '"content":"rivers","refusal":"no"'],
    ['an event that is no object', /^\[/, '[5,'],
    ['no list of choices', /"choices":\[\]/, '"choices":{"index":0}'],
  ];
  it.each(MUTATIONS)('does not with other contents: %s', (_, before, after) => {
    const text = JSON.stringify(written(true));
    const changed = text.replace(before, after);
    expect(changed).not.toBe(text);
    expect(streamDifferences(JSON.parse(changed), answer)).not.toEqual([]);
  });
});
