/** What the words behind `hearth run` mean. */
import { describe, expect, it } from 'vitest';
import { openingOf } from './opening.ts';

const known = (words: readonly string[], isInstalled: boolean, resembles = false) =>
  openingOf(words, { isInstalled, resembles });

describe('the words of hearth run', () => {
  it('begin with an installed model, and the rest is the prompt', () => {
    expect(known(['mini', 'Tell', 'me'], true)).toEqual({ model: 'mini', prompt: 'Tell me' });
    expect(known(['mini'], true)).toEqual({ model: 'mini', prompt: '' });
  });

  it.each([[['What is 2+2?']], [['why?']], [['Überall, immer']]])(
    '%j are a question to the default model',
    (words) => {
      expect(known(words, false)).toEqual({ model: 'default', prompt: words.join(' ') });
    },
  );

  it.each([[['What', 'is', '2+2?']], [['tell', 'me']]])(
    '%j are one as well, but the first may be meant as a model',
    (words) => {
      expect(known(words, false)).toEqual({ model: 'default', prompt: words.join(' '), mayMeanModel: true });
    },
  );

  it.each([
    [['nope']],
    [['gemma-3', 'hi']],
    [['user/repo:Q4']],
    [['gpu/user/repo:Q4', 'hi']],
    [['nope', 'What is it?']],
  ])('%j name a model that is missing', (words) => {
    expect(known(words, false)).toBeUndefined();
  });

  it('name a missing model where an installed one resembles the first word', () => {
    expect(known(['gemma', 'hi'], false, true)).toBeUndefined();
  });

  it('may be none', () => {
    expect(known([], false)).toEqual({ model: 'default', prompt: '' });
  });
});
