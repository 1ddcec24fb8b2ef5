import { describe, expect, it } from 'vitest';
import { readOpening } from './opening.ts';

const known = (words: readonly string[], isInstalled: boolean) => readOpening(words, { isInstalled });

describe('the words of hearth run', () => {
  it('begin with an installed model, and the rest is the prompt', () => {
    expect(known(['mini', 'Tell', 'me'], true)).toEqual({ model: 'mini', prompt: 'Tell me' });
    expect(known(['mini'], true)).toEqual({ model: 'mini', prompt: '' });
  });

  it.each([[['What is 2+2?']], [['why?']], [['Überall, immer']], [['2+2?', 'Quick', 'please']]])(
    '%j are a question to the default model',
    (words) => {
      expect(known(words, false)).toEqual({ model: 'default', prompt: words.join(' ') });
    },
  );

  it.each([
    [['nope']],
    [['mistral', 'hello']],
    [['tell', 'me']],
    [['What', 'is', '2+2?']],
    [['gemma-3', 'hi']],
    [['user/repo:Q4']],
    [['gpu/user/repo:Q4', 'hi']],
    [['nope', 'What is it?']],
  ])('%j name a model that is not installed', (words) => {
    expect(known(words, false)).toBeUndefined();
  });

  it('may be none', () => {
    expect(known([], false)).toEqual({ model: 'default', prompt: '' });
  });
});
