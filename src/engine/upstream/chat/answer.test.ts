import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../contract/job-event.ts';
import { AnswerReader } from './answer.ts';

const context = {
  asked: { upstream: 'box', model: 'm', key: null },
  isChat: true,
  maxCalls: 1,
  wantsLogprobs: false,
  numCtx: 0,
  cutsPrompts: false,
  sinceSentMs: () => 0,
};

/** The timings of an answer whose events come at these milliseconds. */
function timingsOf(events: readonly (readonly [atMs: number, chunk: object])[]) {
  let nowMs = 0;
  const emitted: JobEvent[] = [];
  const reader = new AnswerReader({ ...context, sinceSentMs: () => nowMs }, (event) => emitted.push(event));
  for (const [atMs, chunk] of events) {
    nowMs = atMs;
    reader.take(JSON.stringify(chunk));
  }
  expect(emitted.some(({ type }) => type === 'text')).toBe(true);
  return reader.end().timings;
}

const says = (content: string, finish: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});

describe('the time that an upstream took to write', () => {
  it('is seen from the pieces after the first, and holds the first too', () => {
    const pieces = [says('a'), says('b'), says('c'), says('d', 'stop')];
    const timings = timingsOf(pieces.map((piece, at) => [100 + 10 * at, piece]));
    expect(timings).toEqual({ prefillMs: 100, decodeMs: 40 });
  });

  it('is not known where the answer comes at once', () => {
    expect(timingsOf([[100, says('abcd', 'stop')]]).decodeMs).toBe(0);
    expect(
      timingsOf([
        [100, says('ab')],
        [100.02, says('cd', 'stop')],
      ]).decodeMs,
    ).toBe(0);
  });

  it('is what the upstream measured, where it tells', () => {
    const told = (timings: object) => timingsOf([[100, { ...says('abcd', 'stop'), timings }]]);
    expect(told({ prompt_ms: 30.5, predicted_ms: 60 })).toEqual({ prefillMs: 30.5, decodeMs: 60 });
    for (const predicted_ms of [-1, 101, '60', null, 1e300]) expect(told({ predicted_ms }).decodeMs).toBe(0);
  });
});

describe('tool calls beyond the one that is allowed', () => {
  const calling = (index: number, finish: string | null = null) => ({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index, function: { name: 'look', arguments: '{}' } }] },
        finish_reason: finish,
      },
    ],
  });

  it.each([
    [1, 9, 'dropped'],
    [1, 1, undefined],
    [64, 9, undefined],
  ])('%d allowed, %d written: %s', (maxCalls, written, calls) => {
    const emitted: JobEvent[] = [];
    const reader = new AnswerReader({ ...context, maxCalls }, (event) => emitted.push(event));
    for (let at = 0; at < written; at += 1)
      reader.take(JSON.stringify(calling(at, at + 1 === written ? 'tool_calls' : null)));
    expect(reader.end().calls).toBe(calls);
    expect(emitted.filter(({ type }) => type === 'tool_call')).toHaveLength(Math.min(maxCalls, written));
  });
});
