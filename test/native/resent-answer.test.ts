/** An answer that is sent back is known, also where the model said it in other tokens than its text has. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';
import { tinyVocabulary } from '../../tools/models/tiny-chat.ts';

let worker: TestWorker;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ worker, end } = await startTinyChat({ numCtx: 512, parallel: 2 }));
});

afterAll(() => end());

const question = 'forever and a day';
const words = ' river house river house river house river house';

/** The words are said, and the tokens that they would have (a space is written as U+0120) are forbidden. */
const spelt = () => {
  const { idOf } = tinyVocabulary();
  return worker.generate({
    prompt: { kind: 'text', text: question },
    format: { kind: 'grammar', gbnf: `root ::= "${words} and"` },
    sampling: { temperature: 0, logitBias: ['\u0120river', '\u0120house'].map((word) => [idOf(word), -100]) },
    maxTokens: 200,
  });
};

describe('an answer that is sent back', () => {
  it('is not read again', async () => {
    const answer = await spelt();
    expect(answer.text.startsWith(words)).toBe(true);
    const { promptTokens, completionTokens } = answer.done.usage;
    expect(completionTokens).toBeGreaterThan(16);

    const text = `${question}${words} at night`;
    const next = { prompt: { kind: 'text', text }, maxTokens: 12 } as const;
    const explained = await worker.explain(next);
    expect(explained.renderedPrompt).toBe(text);
    const warm = await worker.generate(next);
    // All but its last word and the end.
    const spoken = promptTokens + completionTokens - 2;
    expect(warm.done.usage.cachedTokens).toBe(spoken);
    expect(explained).toMatchObject({ promptTokens: spoken + 2, cachedTokens: spoken });
    expect(warm.done.usage.promptTokens).toBe(spoken + 2);
  });

  it('is read in its usual tokens where its own would leave no room for what is asked for', async () => {
    await spelt();
    const text = `${question}${words} at night`;
    const fits = { prompt: { kind: 'text', text }, maxTokens: 512 - 16 } as const;
    const { promptTokens } = await worker.explain(fits);
    expect(promptTokens).toBeLessThanOrEqual(16);
  });
});
