import { describe, expect, it } from 'vitest';
import { type VocabularyFacts, whyNotDrafts } from './draft-vocabulary.ts';

const vocabulary = (fields: Partial<VocabularyFacts> = {}): VocabularyFacts => ({
  type: 'gpt2',
  size: 1000,
  bos: 1,
  eos: 2,
  addBos: true,
  addEos: false,
  first: Array.from({ length: 120 }, (_, token) => `t${token}`),
  ...fields,
});

const renamed = (token: number) => vocabulary().first.with(token, 'other');

describe('a drafting model', () => {
  it('has the vocabulary of the model that it drafts for', () => {
    expect(whyNotDrafts(vocabulary(), vocabulary())).toBeNull();
  });

  it('may pad it differently, name its first control tokens differently, and differ far behind', () => {
    const draft = vocabulary({ size: 1128, first: renamed(4).with(105, 'other') });
    expect(whyNotDrafts(draft, vocabulary())).toBeNull();
  });

  it('may have another first token where texts do not begin with one', () => {
    const model = vocabulary({ addBos: false });
    expect(whyNotDrafts({ ...model, bos: 9 }, model)).toBeNull();
  });

  it.each([
    [{ type: 'llama' }, 'its tokenizer is of type llama, not gpt2'],
    [{ size: 1129 }, 'its vocabulary has 1129 tokens, not 1000'],
    [{ bos: 3 }, 'it begins texts with another token'],
    [{ addBos: false }, 'it begins texts with another token'],
    [{ eos: 3 }, 'it ends texts with another token'],
    [{ addEos: true }, 'it ends texts with another token'],
    [{ first: renamed(5) }, 'its token 5 is "other", not "t5"'],
    [{ first: renamed(104) }, 'its token 104 is "other", not "t104"'],
  ] as const)('with %o is refused', (fields, reason) => {
    expect(whyNotDrafts(vocabulary(fields), vocabulary())).toBe(reason);
  });
});
