/** POST /v1/decisions: what is asked of the engine, how its numbers become probabilities, and what is refused. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const path = '/v1/decisions';
const decide = (questions: readonly object[], fields: object = {}) =>
  service.client.post(path, { model: 'default', input: 'A letter.', questions, ...fields });
const choice = (...values: unknown[]) => ({
  type: 'choice',
  instructions: 'What is it?',
  choices: values.map((value) => ({ value })),
});
/** By the engine that plays: each byte takes a hundredth of its code from the log probability. */
const logprobOf = (text: string): number =>
  -[...Buffer.from(text)].reduce((sum, byte) => sum + byte, 0) / 100;
const jobs = () => service.engine.played.map(({ submission }) => submission.job);
const scored = () => jobs().filter((job): job is GenerateJob => job.kind === 'generate');
const conversations = () =>
  jobs().flatMap((job) =>
    job.kind === 'explain' && job.job.prompt.kind === 'chat' ? [job.job.prompt.turns] : [],
  );

describe('a decision', () => {
  it('gives each option the share of its probability as the whole answer', async () => {
    const { status, body } = await decide([{ ...choice('a', 'bb', true), name: 'kind' }]);
    const weights = ['"a"', '"bb"', 'true'].map((text) => Math.exp(logprobOf(text)));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    expect([status, body.model]).toEqual([200, installed.chat]);
    const [answer] = body.answers;
    expect(answer).toMatchObject({
      type: 'choice',
      name: 'kind',
      choice: 'a',
      confidence: answer.probabilities[0].probability,
    });
    expect(answer.probabilities.map((each: { value: unknown }) => each.value)).toEqual(['a', 'bb', true]);
    for (const [at, { probability }] of answer.probabilities.entries())
      expect(probability).toBeCloseTo((weights[at] ?? 0) / total, 12);
    // Nothing is generated, and only the option itself is scored.
    for (const { maxTokens, scoredPrompt } of scored().slice(-3))
      expect([maxTokens, scoredPrompt]).toEqual([0, { top: 0, from: 'Hello'.length }]);
    expect(body.usage).toMatchObject({ output_tokens: 0, input_tokens: 21, total_tokens: 21 });
  });

  it('tells the truth of a statement and the mean of a scale', async () => {
    const levels = [{ label: 'low' }, { label: 'high', description: 'at once' }];
    const { body } = await decide([
      { type: 'predicate', instructions: 'It rains.' },
      { type: 'score', name: 'urgency', instructions: 'How urgent?', levels },
    ]);
    const [truth, lie] = [Math.exp(logprobOf('true')), Math.exp(logprobOf('false'))];
    expect(body.answers[0]).toEqual({
      type: 'predicate',
      name: null,
      probability: expect.closeTo(truth / (truth + lie), 12),
    });
    const { score, probabilities } = body.answers[1];
    expect(probabilities.map(({ value, label }: { value: number; label: string }) => [value, label])).toEqual(
      [
        [0, 'low'],
        [1, 'high'],
      ],
    );
    expect(score).toBeCloseTo(probabilities[1].probability, 12);
    const words = conversations().at(-1)?.[0]?.content ?? '';
    expect(words.startsWith('A letter.\n\nHow urgent?')).toBe(true);
    expect(words).toContain('- "high": at once');
  });

  it('reads the same words in whatever order the choices are sent, where that is asked for', async () => {
    const seen: unknown[] = [];
    for (const values of [
      ['a', 'c', 'b'],
      ['c', 'b', 'a'],
    ]) {
      const before = conversations().length;
      const { body } = await decide([choice(...values)], { svc_any_order: true });
      const [{ probabilities }] = body.answers;
      expect(probabilities.map((each: { value: unknown }) => each.value)).toEqual(values);
      seen.push([
        conversations().slice(before),
        probabilities.toSorted((a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1)),
      ]);
    }
    expect(seen[1]).toEqual(seen[0]);
    // Each stands first once.
    const [[asked]] = seen as [[[{ content: string }][]]];
    expect(asked.map(([{ content }]) => /- ("."|true)/.exec(content)?.[1])).toEqual(['"a"', '"b"', '"c"']);
  });

  it('takes messages, texts in parts, and JSON', async () => {
    const input = [
      { role: 'developer', content: 'Be strict.' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'A' },
          { type: 'input_json', data: { b: 1 } },
        ],
      },
      { role: 'assistant', content: 'Yes?' },
    ];
    await decide([{ type: 'predicate', instructions: [{ type: 'input_text', text: 'It is.' }] }], { input });
    const turns = conversations().at(-1) ?? [];
    expect(turns.slice(0, 3)).toEqual([
      { role: 'system', content: 'Be strict.' },
      { role: 'user', content: 'A\n{"b":1}' },
      { role: 'assistant', content: 'Yes?' },
    ]);
    expect(turns[3]?.content).toContain('It is.');
  });

  it.each([
    [[], {}, 'questions'],
    [[{ type: 'predicate', instructions: '' }], {}, 'questions[0].instructions'],
    [[choice('a')], {}, 'questions[0].choices'],
    [[choice('a', 'a')], {}, 'questions[0].choices[1]'],
    [[choice('a', 7)], {}, 'questions[0].choices[1].value'],
    [[{ ...choice('a', 'b'), levels: [{ label: 'x' }] }], {}, 'questions[0].levels'],
    [[{ type: 'score', instructions: 'x' }], {}, 'questions[0].levels'],
    [
      Array.from({ length: 5 }, () => choice(...Array.from({ length: 250 }, (_, at) => `v${at}`))),
      {},
      'questions',
    ],
    [[choice('a', 'b')], { input: [] }, 'input'],
    [[choice('a', 'b')], { input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    [
      [choice('a', 'b')],
      { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'input[0].content[0]',
    ],
    [[choice('a', 'b')], { input: [{ type: 'function_call' }] }, 'input[0]'],
  ])('names what it cannot read: %j', async (questions, fields, param) => {
    const before = service.engine.played.length;
    const { status, body } = await decide(questions, fields);
    expect([status, body.param]).toEqual([400, param]);
    expect(service.engine.played).toHaveLength(before);
  });
});
