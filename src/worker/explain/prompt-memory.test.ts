import { describe, expect, it } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import { PromptMemory, type Rendered } from './prompt-memory.ts';

/** A token is a character; the first few are marks. */
const vocabulary = {
  bytesOf: (token: number) => (token < 3 ? new Uint8Array() : Buffer.from(String.fromCharCode(token))),
  controlTextOf: (token: number) => (token < 3 ? `<|${token}|>` : null),
};
const tokensOf = (text: string) =>
  Uint32Array.from(text.match(/<\|\d\|>|[^]/g) ?? [], (piece) => {
    const mark = /^<\|(\d)\|>$/.exec(piece)?.[1];
    return mark === undefined ? piece.charCodeAt(0) : Number(mark);
  });

function rendered(content: string, domain?: string): Rendered & { readonly tokens: Uint32Array } {
  const text = `<|1|>${content}<|2|>`;
  const job = generateJob({
    prompt: { kind: 'chat', turns: [{ role: 'system', content }] },
    ...(domain === undefined ? {} : { domain }),
  });
  const pieces = [{ text, plain: false, continues: false }];
  return { job, pieces, model: { thinking: null } as Rendered['model'], tokens: tokensOf(text) };
}

const memoryOf = () => new PromptMemory(vocabulary);

function begin(memory: PromptMemory, prompt: ReturnType<typeof rendered>) {
  memory.arrive(prompt);
  return memory.begin(prompt.job.jobId, prompt.tokens);
}

describe('the memory of prompts', () => {
  it('tells where a prompt parts from the one before it, answer included', () => {
    const memory = memoryOf();
    const first = rendered('You help.');
    expect(begin(memory, first)).toBeNull();
    memory.end(first.job.jobId, [...tokensOf('Yes.')]);
    const next = rendered('You hinder.');
    const earlier = memory.earlier(next, next.tokens);
    expect(earlier).toMatchObject({
      commonTokens: 6,
      difference: {
        cause: 'text_changed',
        token: 6,
        place: { kind: 'message', index: 0, name: 'system' },
        shared: '<|1|>You h',
        before: 'elp.<|2|>Yes.',
        now: 'inder.<|2|>',
      },
    });
    expect(begin(memory, next)).toEqual(earlier);
  });

  it('tells nobody of the prompts of another domain', () => {
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

  it('is bounded in prompts and in characters', () => {
    const few = new PromptMemory(vocabulary, { prompts: 2, units: 1000 });
    for (const content of ['alpha', 'beta', 'gamma']) begin(few, rendered(content));
    expect(begin(few, rendered('alphabet'))?.commonTokens).toBe(1);
    const short = new PromptMemory(vocabulary, { prompts: 9, units: 60 });
    begin(short, rendered('alpha'));
    begin(short, rendered('b'.repeat(20)));
    expect(begin(short, rendered('alphabet'))?.commonTokens ?? 0).toBeLessThan(2);
  });

  it('keeps the prompts of one domain, however many another sends', () => {
    const few = new PromptMemory(vocabulary, { prompts: 4, units: 1000 });
    begin(few, rendered('alpha', 'alice'));
    for (const content of ['b', 'c', 'd', 'e', 'f']) begin(few, rendered(content, 'mallory'));
    expect(begin(few, rendered('alphabet', 'alice'))?.commonTokens).toBe(6);
  });

  it('lives through jobs that it forgot', () => {
    const memory = memoryOf();
    memory.end('gone', [1]);
    expect(memory.begin('gone', tokensOf('a'))).toBeNull();
  });
});
