/** The end of a prompt is padded to a tile of rows; nothing of the padding may be seen or stay. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logprobsOf, TestWorker } from '../../test/support/worker-harness.ts';
import { writeTinyChat } from '../builtin/tiny-chat.ts';
import { padSlices } from './pad-slices.ts';
import { slicePrompts } from './row-plan.ts';

let folder: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-padding-'));
  await writeTinyChat(join(folder, 'tiny.gguf'));
  worker = new TestWorker();
  await worker.booted();
  await worker.load({ path: join(folder, 'tiny.gguf'), numCtx: 1024, parallel: 1 });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

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
