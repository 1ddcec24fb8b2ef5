import { describe, expect, it } from 'vitest';
import { CONSTRUCTIONS, literalsOf, measure, sentencesOf } from './prose.ts';

describe('a construction to avoid', () => {
  it.each([
    ['longer than 35 words', `${'word '.repeat(40)}ends.`, `${'word '.repeat(20)}ends.`],
    [
      'a chain of clauses',
      'A client that sends what the server which answers has, so that it, where it can, who knows, ends.',
      'A client that sends a request gets an answer.',
    ],
    [
      'more than one colon, or three stops',
      'One: two; three: four.',
      'There is no key "x": it expired; make one.',
    ],
    ['a clause in place of a noun', 'What was read is kept.', 'What does it cost?'],
    [
      'the subject after the verb',
      'Of several records, the worst decides.',
      'The worst of several records decides.',
    ],
    ['a definition by what it is not', 'It is no model.', 'There is no model "x".'],
  ])('%s is found, and its remedy passes', (name, odd, plain) => {
    expect(CONSTRUCTIONS[name]?.(odd)).toBe(true);
    expect(
      Object.keys(measure([plain]).found).filter((key) => measure([plain]).found[key]?.length !== 0),
    ).toEqual([]);
  });

  it('is tried for each of the table', () => {
    expect(Object.keys(CONSTRUCTIONS)).toHaveLength(6);
  });
});

describe('a page', () => {
  it('is its sentences, without code, headings and marks', () => {
    const page = [
      '# Title of it',
      'First **one**, with `code: x; y: z`. Second [link](a.md#b).',
      '```sh\nwhat is this; that: those\n```',
      '- an item\n- another: item',
      '| a | b |\n|---|---|\n| cell one | cell two |',
    ].join('\n\n');
    expect(sentencesOf(page)).toEqual([
      'First one, with CODE.',
      'Second link.',
      'an item',
      'another: item',
      'a',
      'b',
      'cell one',
      'cell two',
    ]);
  });

  it('is measured by its words', () => {
    expect(measure(sentencesOf('What is set is kept. Set it again here.')).rate).toBeCloseTo(1000 / 9);
  });
});

it('reads what a source shows to users', () => {
  const source = "fail('no'); const a = 'src/server/http/guard.ts'; say(`the model ${id} is not installed`);";
  expect(literalsOf(source)).toEqual(['the model NAME is not installed']);
});
