import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../contract/job-event.ts';
import { AnswerReader } from './answer.ts';

/** The timings of an answer whose events come at these milliseconds. */
function timingsOf(events: readonly (readonly [atMs: number, chunk: object])[]) {
  let nowMs = 0;
  const emitted: JobEvent[] = [];
  const reader = new AnswerReader(
    {
      asked: { upstream: 'box', model: 'm', key: null },
      isChat: true,
      maxCalls: 1,
      wantsLogprobs: false,
      numCtx: 0,
      cutsPrompts: false,
      sinceSentMs: () => nowMs,
    },
    (event) => emitted.push(event),
  );
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
