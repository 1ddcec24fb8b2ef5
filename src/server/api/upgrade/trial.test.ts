/** A trial whose time is over, on sides that do what each test says. */
import { expect, it } from 'vitest';
import type { Measurement, ScoredText } from '../eval/measure.ts';
import type { Side } from './side.ts';
import { tryUpgrade } from './trial.ts';
import { judge } from './verdict.ts';

const text = (at: number): ScoredText => ({
  name: `text ${at}`,
  bytes: 1_000,
  tokens: Array.from({ length: 300 }, (_, id) => ({ id, logprob: -1, top: [[id, -1] as const] as never })),
});

const measured = (texts: number, tried: number): Measurement => ({
  model: 'm',
  texts: Array.from({ length: texts }, (_, at) => text(at)),
  rendered: '',
  own: [],
  cases: { all: 40, passed: tried, failed: [], left: 40 - tried },
  needle: null,
  notTried: [],
  readPerS: 0,
  writtenPerS: 0,
  memoryBytes: 100,
  host: { unknown: 'nobody signs it' },
});

const side = (measurement: Measurement, leastMs: Side['leastMs']): Side => ({
  measure: () => Promise.resolve(measurement),
  replay: () => Promise.resolve({ replies: [], texts: [] }),
  leastMs,
});

function tried(present: Side, candidate: Side, hurry = new AbortController().signal) {
  return tryUpgrade({
    present,
    candidate,
    isSameModel: true,
    requests: [],
    casesWithinMs: 1_000,
    withinMs: 600_000,
    measuresSpeed: true,
    signal: new AbortController().signal,
    hurry,
    onProgress: () => {},
  });
}

const inMs = (ms: number) => () => Promise.resolve(ms);

it('compares what both sides measured, and never takes that for the whole', async () => {
  const trial = await tried(side(measured(9, 40), inMs(10)), side(measured(4, 7), inMs(10)));
  expect(trial).toMatchObject({
    figures: {
      texts: { tokens: 1_200, sameChoice: 1, lossRatio: 1 },
      cases: { tried: 7, passed: 7, passedBefore: 7 },
      leftOut: ['5 of 9 texts', '33 of 40 calls and JSON answers'],
      speedRatio: 1,
    },
  });
  expect(judge(trial)).toMatchObject({
    verdict: 'look',
    reasons: [
      'The comparison ended before 5 of 9 texts were compared.',
      'The comparison ended before 33 of 40 calls and JSON answers were compared.',
    ],
  });
});

it('says nothing of speed that was cut short', async () => {
  const hurry = new AbortController();
  const cut: Side['leastMs'] = (_tokens, signal) => {
    hurry.abort();
    return Promise.reject(signal.reason as Error);
  };
  const whole = measured(9, 40);
  const trial = await tried(side(whole, inMs(10)), side(whole, cut), hurry.signal);
  expect(trial).toMatchObject({ figures: { speedRatio: null, leftOut: [] } });
  expect(judge(trial)).toEqual({ verdict: 'switch', reasons: [] });
});
