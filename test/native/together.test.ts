/** Prompts that come together are read together; that changes neither their answers nor what they share. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, logprobsOf, startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';

let worker: TestWorker;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ worker, end } = await startTinyChat({ numCtx: 1024, parallel: 5 }));
});

afterAll(() => end());

const generate = (text: string, maxTokens: number) =>
  worker.generate({ prompt: { kind: 'text', text }, maxTokens, topLogprobs: 3 });

describe('prompts that come together', () => {
  it('are answered like each of them alone, though evaluated together', async () => {
    const sentence = 'an old clock in the hall strikes seven while rain falls on the garden wall and ';
    const prompts = [51, 58, 63, 70, 77].map((length, i) => `${i} ${sentence.slice(0, length)}`);
    const alone: Answer[] = [];
    for (const prompt of prompts) alone.push(await generate(prompt, 24));
    // Other prompts in between, so that nothing is left to be reused.
    await Promise.all(prompts.map((_, i) => generate(`${'forever and a day '.repeat(12)}${i}`, 1)));
    const together = await Promise.all(prompts.map((prompt) => generate(prompt, 24)));

    for (const [i, answer] of together.entries()) {
      expect(answer.text).toBe(alone[i]?.text);
      const expected = logprobsOf(alone[i] as Answer);
      expect(expected.length).toBeGreaterThan(0);
      expect(logprobsOf(answer)).toHaveLength(expected.length);
      for (const [at, value] of logprobsOf(answer).entries())
        expect(value).toBeCloseTo(expected[at] ?? Number.NaN, 1);
    }
  });

  it('share a beginning that one of them reads', async () => {
    const system = 'you are the keeper of a lighthouse and answer every ship in two words or fewer '.repeat(
      3,
    );
    // Another stream is at work when they come, so that all of them get their sequences in one step.
    const [, ...answers] = await Promise.all([
      generate('forever', 60),
      ...['north', 'south', 'east'].map((word) => generate(system + word, 4)),
    ]);
    const cached = answers.map(({ done }) => done.usage.cachedTokens).sort((a, b) => a - b);
    const shared = Math.min(...answers.map(({ done }) => done.usage.promptTokens)) - 6;
    expect(cached[0]).toBe(0);
    expect(cached[1]).toBeGreaterThanOrEqual(shared);
    expect(cached[2]).toBeGreaterThanOrEqual(shared);
  });
});
