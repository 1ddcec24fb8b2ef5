/** The end of a prompt is padded to a tile of rows; nothing of the padding may be seen or stay. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logprobsOf, startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';
import { padSlices } from '../../src/worker/batch/planning/pad-slices.ts';
import { slicePrompts } from '../../src/worker/batch/planning/row-plan.ts';

let worker: TestWorker;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ worker, end } = await startTinyChat({ numCtx: 1024, parallel: 1 }));
});

afterAll(() => end());

const generate = (text: string, maxTokens: number) =>
  worker.generate({ prompt: { kind: 'text', text }, maxTokens, topLogprobs: 3 });

describe('a padded prompt', () => {
  it('is answered like one that needs no padding', async () => {
    const start = 'the river keeps its own time and '.repeat(25);
    const whole = `${start}carries leaves past old mills while people walk home`;
    await generate('forever', 1);
    const cold = await generate(whole, 40);
    await generate('forever', 1);
    await generate(start, 1);
    const padded = await generate(whole, 40);

    const { promptTokens, cachedTokens } = padded.done.usage;
    const wait = {
      sequence: 0,
      position: cachedTokens,
      remaining: promptTokens - cachedTokens,
      passedOver: 0,
    };
    const slices = slicePrompts([wait], { budget: 64, mostRows: 512, idle: true });
    const rules = { mostRows: 512, padWithin: 1024, rowMs: 1, passMs: 1 };
    expect(padSlices(slices, [wait], rules)[0]?.padding).toBeGreaterThan(0);
    expect(padded.text).toBe(cold.text);
    expect(padded.done.usage.completionTokens).toBe(40);
    const [expected, found] = [logprobsOf(cold), logprobsOf(padded)];
    expect(found).toHaveLength(expected.length);
    for (const [i, value] of found.entries()) expect(value).toBeCloseTo(expected[i] ?? Number.NaN, 2);
  });
});
