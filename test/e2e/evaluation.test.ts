/** The built service as programs that evaluate models use it: a recorded request of lm-eval, and decisions against brute force. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpClient } from '../support/http/http-client.ts';
import { Installation } from '../support/process/installation.ts';

const COPIES = fileURLToPath(new URL('../clients/evals/copies.jsonl', import.meta.url));
let installation: Installation;
let client: HttpClient;

beforeAll(async () => {
  installation = await Installation.make();
  const { url } = await installation.serve({ SVC_HOME: installation.home });
  // The bits of an answer depend on its request alone.
  const { code } = await installation.run(['set', 'hearth-mini', 'exact=on']);
  expect(code).toBe(0);
  client = new HttpClient(url);
});
afterAll(() => installation.remove());

const tokensOf = async (text: string): Promise<number[]> => {
  const { status, body } = await client.post('/tokenize', { prompt: text, add_special_tokens: false });
  expect(status).toBe(200);
  return body.tokens;
};

describe('lm-eval', () => {
  it('finds a tokenizer', async () => {
    const { status, body } = await client.get('/tokenizer_info');
    expect([status, body]).toEqual([
      200,
      { model: 'hearth-mini', bos_token: '<|endoftext|>', eos_token: '<|im_end|>' },
    ]);
    expect(await tokensOf('<|im_end|>')).toHaveLength(1);
  });

  it('scores multiple choice by the log probabilities of prompts', async () => {
    const items = (await readFile(COPIES, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { context: string; choices: string[]; label: number });
    let right = 0;
    for (const { context, choices, label } of items) {
      const before = await tokensOf(context);
      const prompt = await Promise.all(
        choices.map(async (choice) => [...before, ...(await tokensOf(choice))]),
      );
      // As lm-eval 0.4 sends it.
      const asked = {
        model: 'default',
        prompt,
        temperature: 0,
        max_tokens: 1,
        logprobs: 1,
        seed: 1234,
        echo: true,
      };
      const { status, body } = await client.post('/v1/completions', asked);
      expect(status).toBe(200);
      const scores = body.choices.map(
        (choice: { logprobs: { token_logprobs: number[]; top_logprobs: object[] } }) => {
          const { token_logprobs: logprobs, top_logprobs: top } = choice.logprobs;
          const own = logprobs.slice(before.length, -1);
          // What it takes for the greedy choice.
          for (const [at, each] of own.entries()) {
            expect(
              Math.max(...(Object.values(top[before.length + at] ?? {}) as number[])),
            ).toBeGreaterThanOrEqual(each);
          }
          return own.reduce((sum, each) => sum + each, 0);
        },
      );
      if (scores.indexOf(Math.max(...scores)) === label) right += 1;
    }
    // Chance is a third.
    expect(right).toBeGreaterThanOrEqual(9);
  });
});

const TEXT = `A letter. ${'We like the garden and the river. '.repeat(12)}`;
const VALUES = ['garden', 'river', 'stone wall', 'music'];
const choice = (values: readonly string[], instructions = 'What do we like?') => ({
  type: 'choice',
  instructions,
  choices: values.map((value) => ({ value })),
});
const decide = async (questions: readonly object[], fields: object = {}) => {
  const { status, body } = await client.post('/v1/decisions', {
    model: 'default',
    input: TEXT,
    questions,
    ...fields,
  });
  expect([status, body.message]).toEqual([200, undefined]);
  return body;
};

describe('a decision', () => {
  it('has the probabilities that brute force finds', async () => {
    const { answers } = await decide([choice(VALUES)]);
    const content = `${TEXT}\n\nWhat do we like?\nOptions:\n${VALUES.map((value) => `- "${value}"`).join('\n')}\nAnswer with one of them only, as it is spelled here.`;
    const messages = [{ role: 'user', content }];
    const told = await client.chat({ model: 'default', messages, prompt_logprobs: 0, max_tokens: 1 });
    const prompt = told.body.prompt_token_ids as number[];
    const weights: number[] = [];
    for (const value of VALUES) {
      const tokens = [...prompt, ...(await tokensOf(JSON.stringify(value)))];
      const asked = { model: 'default', prompt: [tokens], echo: true, logprobs: 0, max_tokens: 0 };
      const { body } = await client.post('/v1/completions', asked);
      const own = body.choices[0].logprobs.token_logprobs.slice(prompt.length) as number[];
      weights.push(Math.exp(own.reduce((sum, each) => sum + each, 0)));
    }
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const probabilities = answers[0].probabilities.map((each: { probability: number }) => each.probability);
    expect(probabilities.reduce((sum: number, each: number) => sum + each, 0)).toBeCloseTo(1, 12);
    for (const [at, weight] of weights.entries()) expect(probabilities[at]).toBeCloseTo(weight / total, 6);
  });

  it('does not depend on the order of choices where that is asked for', async () => {
    const sorted = async (values: readonly string[]) => {
      const { answers } = await decide([choice(values)], { svc_any_order: true });
      return answers[0].probabilities.toSorted((a: { value: string }, b: { value: string }) =>
        a.value < b.value ? -1 : 1,
      );
    };
    expect(await sorted(VALUES.toReversed())).toEqual(await sorted(VALUES));
  });

  it('reads a text once for twenty questions', async () => {
    const text = (await tokensOf(TEXT)).length;
    const statements = Array.from({ length: 20 }, (_, at) => ({
      type: 'predicate',
      instructions: `It has ${at} words.`,
    }));
    const { answers, usage } = await decide(statements, { input: `Once more. ${TEXT}` });
    expect(answers).toHaveLength(20);
    const { cached_tokens: cached } = usage.input_tokens_details;
    // Of 40 prompts with the text, one evaluates it.
    expect(cached).toBeGreaterThan(39 * text);
    expect(usage.input_tokens - cached).toBeLessThan(text + 40 * 60);
  });
});
