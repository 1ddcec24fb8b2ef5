/** Log probabilities of prompts: those that a token would have as the next one of an answer, whatever is cached and beside whom. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PromptToken } from '../../src/contract/job-event.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import { type Answer, bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const TOKENS = Array.from({ length: 200 }, (_, at) => 3 + ((at * 37) % 400));

let worker: TestWorker;

beforeAll(async () => {
  worker = await bootWorker();
  // Ordinary loads compute a row with another kernel beside others than alone.
  const settings = { exact: 'on' } as const;
  await worker.load({ path: resolve('models/hearth-mini/model.gguf'), numCtx: 512, parallel: 4, settings });
});

afterAll(() => worker.end());

const scored = (tokens: readonly number[], fields: Partial<GenerateJob> = {}): Promise<Answer> =>
  worker.generate({
    prompt: { kind: 'tokens', tokens: [...tokens] },
    maxTokens: 0,
    scoredPrompt: { top: 3, from: 0 },
    ...fields,
  });

const promptOf = ({ events }: Answer): PromptToken[] =>
  events.flatMap((event) => (event.type === 'prompt_tokens' ? event.tokens : []));

const logprobsOf = (answer: Answer): (number | null)[] =>
  promptOf(answer).map(({ score }) => score?.logprob ?? null);

/** The same number by another way: the token is forced as the first one of an answer. */
async function asAnswer(before: readonly number[], token: number): Promise<number> {
  const { events } = await worker.generate({
    prompt: { kind: 'tokens', tokens: [...before] },
    maxTokens: 1,
    sampling: { temperature: 0, logitBias: [[token, 10_000]] },
    topLogprobs: 0,
    domain: `alone-${before.length}`,
  });
  const told = events.flatMap((event) => (event.type === 'text' ? (event.tokens ?? []) : []));
  return told[0]?.chosen.logprob ?? Number.NaN;
}

describe('tokens of a prompt', () => {
  it('have the log probability that they would have as the next token of an answer', async () => {
    const told = promptOf(await scored(TOKENS));
    expect(told.map(({ id }) => id)).toEqual(TOKENS);
    expect(told[0]?.score).toBeNull();
    // Around the borders of tiles, and at both ends.
    for (const at of [1, 2, 63, 64, 65, 127, 128, 129, 198, 199]) {
      const expected = await asAnswer(TOKENS.slice(0, at), TOKENS[at] ?? 0);
      // Whatever token cannot be written as text has none to compare with.
      if (!Number.isNaN(expected)) expect(told[at]?.score?.logprob, `${at}`).toBe(expected);
    }
  });

  it('are followed by one entry for each token of the answer, whether it writes text or not', async () => {
    const reported = ({ events }: Answer): (number | undefined)[] =>
      events
        .flatMap((event) => (event.type === 'text' ? (event.tokens ?? []) : []))
        .map(({ chosen }) => chosen.id);
    const answers: Answer[] = [];
    // Characters, halves of characters and words; then an unused word, <|endoftext|>, <|im_start|> and <|im_end|>.
    for (const token of [0, 1, 94, 95, 180, 300, 4_092, 4_093, 4_094, 4_095]) {
      const sampling = { temperature: 0, logitBias: [[token, 10_000] as [number, number]] };
      const answer = await scored(TOKENS.slice(0, 8), { maxTokens: 2, topLogprobs: 0, sampling });
      expect(reported(answer), `${token}`).toEqual(Array(answer.done.usage.completionTokens).fill(token));
      answers.push(answer);
    }
    const ends = answers.map(({ done, text }) => [done.finishReason, text === '']);
    expect(ends).toContainEqual(['stop', true]);
    expect(ends).toContainEqual(['length', true]);
    expect(ends).toContainEqual(['length', false]);
    const asked = { maxTokens: 30, topLogprobs: 0, ignoresEnd: true };
    const { text } = await scored(TOKENS.slice(0, 8), asked);
    const stopped = await scored(TOKENS.slice(0, 8), { ...asked, stop: [text.slice(5, 9)] });
    expect([stopped.done.finishReason, stopped.text]).toEqual([
      'stop',
      text.slice(0, text.indexOf(text.slice(5, 9))),
    ]);
    expect(reported(stopped)).toHaveLength(stopped.done.usage.completionTokens);
  });

  it('are ranked, with the likeliest beside them', async () => {
    for (const { score, id } of promptOf(await scored(TOKENS)).slice(1)) {
      const { logprob = 0, rank = 0, top = [] } = score ?? {};
      expect(top).toHaveLength(3);
      const larger = top.filter((each) => each.logprob > logprob).length;
      expect(rank > 3 ? larger : rank - 1).toBe(rank > 3 ? 3 : larger);
      if (rank === 1) expect(top[0]?.id).toBe(id);
    }
  });

  it('are read anew where the cache has their state', async () => {
    const cold = await scored(TOKENS, { maxTokens: 4 });
    await worker.generate({ prompt: { kind: 'tokens', tokens: TOKENS }, maxTokens: 4 });
    const warm = await scored(TOKENS, { maxTokens: 4 });
    expect(warm.done.usage).toMatchObject({ promptTokens: 200, cachedTokens: 0, completionTokens: 4 });
    expect(warm.text).toBe(cold.text);
    const [before, after] = [logprobsOf(cold), logprobsOf(warm)];
    expect(after).toHaveLength(200);
    for (const [at, logprob] of after.entries()) expect(logprob ?? 1, `${at}`).toBe(before[at] ?? 1);
  });

  it('may begin in the middle, behind cached state', async () => {
    const whole = logprobsOf(await scored(TOKENS));
    for (const from of [1, 2, 100, 199]) {
      const part = await scored(TOKENS, { scoredPrompt: { top: 0, from } });
      expect(promptOf(part).map(({ id }) => id)).toEqual(TOKENS.slice(from));
      expect(part.done.usage.cachedTokens).toBe(from - 1);
      for (const [at, logprob] of logprobsOf(part).entries())
        expect(logprob ?? 1, `${from}+${at}`).toBe(whole[from + at] ?? 1);
    }
    const none = await scored(TOKENS, { scoredPrompt: { top: 0, from: 200 } });
    expect(promptOf(none)).toEqual([]);
  });

  it('are the same beside others', async () => {
    const prompts = Array.from({ length: 6 }, (_, at) => TOKENS.slice(at, 150 + at * 7));
    const alone: (number | null)[][] = [];
    for (const prompt of prompts) alone.push(logprobsOf(await scored(prompt)));
    const plain = worker.generate({ prompt: { kind: 'tokens', tokens: TOKENS.slice(9) }, maxTokens: 20 });
    const together = await Promise.all(prompts.map((prompt) => scored(prompt)));
    await plain;
    for (const [index, answer] of together.entries()) {
      for (const [at, logprob] of logprobsOf(answer).entries())
        expect(logprob ?? 1, `${index}:${at}`).toBe(alone[index]?.[at] ?? 1);
    }
  });

  it('may fill the window where no answer is wanted', async () => {
    const full = Array.from({ length: 512 }, (_, at) => 3 + (at % 300));
    expect(promptOf(await scored(full))).toHaveLength(512);
    await expect(scored(full, { maxTokens: 1 })).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});
