import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

const models = ['gemma-3-270m-q4_k_m', 'hearth-mini', 'hearth-embed', 'acme/tiny-chat:q4'];

describe('nearest', () => {
  it.each([
    ['gemma', ['gemma-3-270m-q4_k_m']],
    ['hearth-mimi', ['hearth-mini']],
    ['Haerth-Mini', ['hearth-mini']],
    ['mini', ['hearth-mini']],
    ['tiny', ['acme/tiny-chat:q4']],
    ['gema', ['gemma-3-270m-q4_k_m']],
    ['gemma-3:270m', ['gemma-3-270m-q4_k_m']],
    ['tinny', ['acme/tiny-chat:q4']],
    ['embd', ['hearth-embed']],
    ['mistral', []],
    ['nope', []],
    ['', []],
  ])('finds for %j %j', (word, expected) => {
    expect(nearest(word, models)).toEqual(expected);
  });

  it('puts what is closest first', () => {
    expect(nearest('hearth', models)).toEqual(['hearth-mini', 'hearth-embed']);
    expect(nearest('list', ['lisp', 'list', 'lost'])).toEqual(['list', 'lisp', 'lost']);
  });

  it('is nothing where every letter would have to change', () => {
    expect(nearest('x', ['g', 'mini'])).toEqual([]);
    expect(nearest('g', ['g'])).toEqual(['g']);
  });

  it('is put as a question', () => {
    expect(didYouMean([])).toBe('');
    expect(didYouMean(['a'])).toBe(' Did you mean a?');
    expect(didYouMean(['a', 'b', 'c'])).toBe(' Did you mean a, b or c?');
  });
});
