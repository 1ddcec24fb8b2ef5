import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../contract/job-event.ts';
import { AnswerReader } from './answer.ts';

const context = {
  asked: { upstream: 'box', model: 'm', key: null },
  isChat: true,
  maxCalls: 1,
  wantsLogprobs: false,
  repetitionLimit: 256,
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
    const reported = (timings: object) => timingsOf([[100, { ...says('abcd', 'stop'), timings }]]);
    expect(reported({ prompt_ms: 30.5, predicted_ms: 60 })).toEqual({ prefillMs: 30.5, decodeMs: 60 });
    for (const predicted_ms of [-1, 101, '60', null, 1e300])
      expect(reported({ predicted_ms }).decodeMs).toBe(0);
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

describe('an upstream that repeats itself', () => {
  const reading = (repetitionLimit: number) => {
    const emitted: JobEvent[] = [];
    const reader = new AnswerReader({ ...context, repetitionLimit }, (event) => emitted.push(event));
    return { reader, emitted };
  };

  it('is ended as a local model is, in whatever pieces it says it', () => {
    for (const piece of ['la ', 'la la la la la ', 'the same line again.\n'.repeat(9)]) {
      const { reader, emitted } = reading(256);
      for (let at = 0; at < 1_000 && !reader.isOver; at += 1) reader.take(JSON.stringify(says(piece)));
      expect([reader.wasEnded, reader.end()]).toEqual([
        true,
        expect.objectContaining({ finishReason: 'length', repetition: 'ended' }),
      ]);
      const said = emitted.map((event) => (event.type === 'text' ? event.text : '')).join('');
      expect(said.length).toBeLessThan(2_000);
    }
  });

  it('goes on where the request says so, and where it does not repeat itself', () => {
    const allowed = reading(0).reader;
    for (let at = 0; at < 1_000; at += 1) allowed.take(JSON.stringify(says('la ')));
    const varied = reading(256).reader;
    for (let at = 0; at < 1_000; at += 1) varied.take(JSON.stringify(says(`${at * at} houses `)));
    for (const reader of [allowed, varied]) {
      reader.take(JSON.stringify(says('.', 'stop')));
      expect([reader.wasEnded, reader.end().repetition]).toEqual([false, undefined]);
    }
  });

  it('or refuses calls, and is another Hearth, has said so itself', () => {
    const { reader } = reading(256);
    reader.take(
      JSON.stringify({ ...says('la', 'stop'), svc_repetition: 'nudged', svc_call_guard: 'refused' }),
    );
    expect(reader.end()).toMatchObject({ repetition: 'nudged', calls: 'refused' });
    const odd = reading(256).reader;
    odd.take(JSON.stringify({ ...says('la', 'stop'), svc_repetition: {}, svc_call_guard: 'x' }));
    expect(odd.end()).not.toHaveProperty('repetition');
  });
});
