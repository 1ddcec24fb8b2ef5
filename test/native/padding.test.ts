/** The end of a deep prompt is padded to a tile of rows; nothing of the padding may be seen or stay. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROW_TILE } from '../../src/worker/batch/planning/tuning.ts';
import { callsOf, type RecordedWorker, startRecordedChat } from '../support/engine/recorded-worker.ts';
import { type Answer, logprobsOf } from '../support/engine/worker-harness.ts';

let padding: RecordedWorker;
let plain: RecordedWorker;

beforeAll(async () => {
  const load = { numCtx: 1024, parallel: 1 };
  [padding, plain] = await Promise.all([
    startRecordedChat(load),
    startRecordedChat({ ...load, planner: { kind: 'tuned', without: ['padding'] } }),
  ]);
});

afterAll(() => Promise.all([padding.end(), plain.end()]));

const start = 'the river keeps its own time and '.repeat(25);
const whole = `${start}carries leaves past old mills while people walk home`;

interface Observed {
  readonly answer: Answer;
  /** Rows of each native call, the prompt first. */
  readonly rows: readonly number[];
}

const generate = ({ worker }: RecordedWorker, text: string, maxTokens: number) =>
  worker.generate({ prompt: { kind: 'text', text }, maxTokens, topLogprobs: 3 });

/** Answers a prompt whose beginning is cached, so that its end stands deep in the context. */
async function observe(recorded: RecordedWorker): Promise<Observed> {
  await generate(recorded, 'forever', 1);
  await generate(recorded, start, 1);
  let answer: Answer | undefined;
  const record = await recorded.during(async () => {
    answer = await generate(recorded, whole, 40);
  });
  if (answer === undefined) throw new Error('there is no answer');
  return { answer, rows: callsOf(record).map((call) => call.reduce((sum, { rows }) => sum + rows, 0)) };
}

describe('a padded prompt', () => {
  it('reaches the native context as a whole tile, and without padding as long as it is', async () => {
    const [padded, unpadded] = await Promise.all([observe(padding), observe(plain)]);
    const { promptTokens, cachedTokens } = padded.answer.done.usage;
    const tokens = promptTokens - cachedTokens;
    expect(tokens).toBeGreaterThan(ROW_TILE / 2);
    expect(tokens).toBeLessThan(ROW_TILE);
    expect(padded.rows[0]).toBe(ROW_TILE);
    expect(unpadded.rows[0]).toBe(tokens);
  });

  it('is answered like one that needs no padding', async () => {
    await generate(padding, 'forever', 1);
    const cold = await generate(padding, whole, 40);
    expect(cold.done.usage.cachedTokens).toBe(0);
    const { answer } = await observe(padding);
    expect(answer.text).toBe(cold.text);
    expect(answer.done.usage.completionTokens).toBe(40);
    const [expected, found] = [logprobsOf(cold), logprobsOf(answer)];
    expect(found).toHaveLength(expected.length);
    for (const [i, value] of found.entries()) expect(value).toBeCloseTo(expected[i] ?? Number.NaN, 2);
  });
});
