import { describe, expect, it } from 'vitest';
import { generateJob } from '../../test/support/engine/jobs.ts';
import { PromptMemory } from './prompt-memory.ts';

/** A token is a character; the first few are marks. */
const vocabulary = {
  tokenBytes: (token: number) => (token < 3 ? new Uint8Array() : Buffer.from(String.fromCharCode(token))),
  controlText: (token: number) => (token < 3 ? `<|${token}|>` : null),
};
const tokensOf = (text: string) =>
  Uint32Array.from(text.match(/<\|\d\|>|[^]/g) ?? [], (piece) => {
    const mark = /^<\|(\d)\|>$/.exec(piece)?.[1];
    return mark === undefined ? piece.charCodeAt(0) : Number(mark);
  });

function rendered(content: string, domain?: string) {
  const job = generateJob({
    prompt: { kind: 'chat', turns: [{ role: 'system', content }] },
    ...(domain === undefined ? {} : { domain }),
  });
  return { job, openingTokens: 1, tokens: tokensOf(`<|1|>${content}<|2|>`) };
}

const memoryOf = () => new PromptMemory(vocabulary);

function begin(memory: PromptMemory, prompt: ReturnType<typeof rendered>) {
  memory.arrive(prompt);
  return memory.begin(prompt.job.jobId, prompt.tokens);
}

describe('the memory of prompts', () => {
  it('says where a prompt differs from the one before it, answer included', () => {
    const memory = memoryOf();
    const first = rendered('You help.');
    expect(begin(memory, first)).toBeNull();
    memory.end(first.job.jobId, [...tokensOf('Yes.')]);
    const next = rendered('You hinder.');
    const earlier = memory.earlier(next, next.tokens);
    expect(earlier).toEqual({
      commonTokens: 6,
      difference: { token: 6, shared: '<|1|>You h', before: 'elp.<|2|>Yes.', now: 'inder.<|2|>' },
    });
    expect(begin(memory, next)).toEqual(earlier);
  });

  it('takes a prompt that shares only the words of the template for a new one', () => {
    const memory = memoryOf();
    begin(memory, rendered('You help.'));
    expect(begin(memory, rendered('Be kind.'))).toBeNull();
    expect(begin(memory, rendered('Yes'))).toMatchObject({ commonTokens: 2 });
  });

  it('finds no difference where one prompt continues the other', () => {
    const memory = memoryOf();
    const first = rendered('You help.');
    begin(memory, first);
    memory.end(first.job.jobId, [...tokensOf('Yes.')]);
    const tokens = tokensOf('<|1|>You help.<|2|>Yes.<|1|>More.');
    expect(memory.earlier(rendered('x'), tokens)).toEqual({ commonTokens: 15 });
    expect(memory.earlier(rendered('x'), tokensOf('<|1|>You h'))).toEqual({ commonTokens: 6 });
  });

  it('compares with the prompt that shares most, and cuts the text', () => {
    const memory = memoryOf();
    for (const content of [`a${'b'.repeat(200)}`, `ab${'c'.repeat(200)}`, 'xyz'])
      begin(memory, rendered(content));
    expect(begin(memory, rendered(`ab${'d'.repeat(200)}`))?.difference).toEqual({
      token: 3,
      shared: '<|1|>ab',
      before: 'c'.repeat(48),
      now: 'd'.repeat(48),
    });
  });

  it('compares with no prompt of another domain', () => {
    const memory = memoryOf();
    begin(memory, rendered('A secret.', 'one'));
    expect(begin(memory, rendered('A second.', 'two'))).toBeNull();
    expect(begin(memory, rendered('A second.', 'one'))?.difference?.before).toContain('ret.');
  });

  it('knows nothing of prompts that only wait', () => {
    const memory = memoryOf();
    memory.arrive(rendered('You help.'));
    expect(begin(memory, rendered('You hinder.'))).toBeNull();
  });

  it('is bounded in prompts and in tokens', () => {
    const few = new PromptMemory(vocabulary, { prompts: 2, tokens: 1000 });
    for (const content of ['alpha', 'beta', 'gamma']) begin(few, rendered(content));
    expect(begin(few, rendered('alphabet'))).toBeNull();
    const short = new PromptMemory(vocabulary, { prompts: 9, tokens: 25 });
    begin(short, rendered('alpha'));
    begin(short, rendered('b'.repeat(20)));
    expect(begin(short, rendered('alphabet'))?.commonTokens ?? 0).toBeLessThan(2);
  });

  it('keeps the prompts of one domain, however many another sends', () => {
    const few = new PromptMemory(vocabulary, { prompts: 4, tokens: 1000 });
    begin(few, rendered('alpha', 'alice'));
    for (const content of ['b', 'c', 'd', 'e', 'f']) begin(few, rendered(content, 'mallory'));
    expect(begin(few, rendered('alphabet', 'alice'))?.commonTokens).toBe(6);
  });

  it('survives jobs that it forgot', () => {
    const memory = memoryOf();
    memory.end('gone', [1]);
    expect(memory.begin('gone', tokensOf('a'))).toBeNull();
  });
});
