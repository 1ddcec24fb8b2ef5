/**
 * Plain English as a ratchet: how often the words and constructions of docs/style.md may still occur is kept in
 * style-counts.json, and a number may only fall. After a change that removes some: LOWER_STYLE_COUNTS=1 npx vitest run
 * test/style/style.test.ts. SHOW_PROSE=docs (decisions, help, "error texts") prints the sentences with constructions.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { literalsOf, measure, sentencesOf } from './prose.ts';

type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

const STYLE = 'docs/style.md';
const COUNTS = new URL('style-counts.json', import.meta.url);

/** Each with the words to write instead, from the table of the page. */
const avoided = readFileSync(STYLE, 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, word = '', instead = '']) => /^[a-z' ]+$/.test(word) && instead !== '' && word !== 'instead of')
  .map(([, word = '', instead = '']) => ({ word, instead }));

const below = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => ending.test(name) && !name.includes('.test.'));

const sources = ['src', 'ui', 'packages'].flatMap((folder) => below(folder, /\.tsx?$/));
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/[^\n]*/g;
const read = (file: string): string => readFileSync(file, 'utf8');
const comments = sources.flatMap((file) => read(file).match(COMMENT) ?? []);

/** Records and logs keep the words of their day; the page itself has to name the words. */
const pages = [...readdirSync('.').filter((name) => name.endsWith('.md')), ...below('docs', /\.md$/)].filter(
  (page) => !page.startsWith('docs/decisions/') && page !== STYLE,
);
const prose = (page: string): string => read(page).replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');

const texts: Readonly<Record<string, string>> = {
  comments: comments.join('\n'),
  docs: pages.map(prose).join('\n'),
  'error texts': below('src/lib/errors', /-errors\.ts$/)
    .map((file) => read(file).replaceAll(COMMENT, ''))
    .join('\n'),
};

const occurrences = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
/** A phrase may be broken by the end of a line of a comment. */
const patternFor = (word: string): RegExp =>
  new RegExp(String.raw`\b${word.replaceAll(' ', String.raw`[\s*]+`)}\b`, 'gi');

const found: Counts = {
  ...Object.fromEntries(
    Object.entries(texts).map(([kind, text]) => [
      kind,
      Object.fromEntries(avoided.map(({ word }) => [word, occurrences(text, patternFor(word))])),
    ]),
  ),
  forms: {
    'comments that begin with a bare question word': comments.filter((comment) =>
      /^(?:\/\*\*?\s*(?:\* )?|\/\/ )(?:What|Who|Whose|Where|How|Why|Which)\b[^?]*$/.test(comment),
    ).length,
    'comments whose first line is longer than 130 characters': comments.filter(
      (comment) => (comment.split('\n')[0] ?? '').length > 130,
    ).length,
    'functions whose name ends in Of': sources.reduce(
      (sum, file) => sum + occurrences(read(file), /\b(?:function|const) [a-z]\w*Of\b(?= ?[(<=:])/g),
      0,
    ),
  },
};

const markdown = (files: readonly string[]): string[] => files.flatMap((file) => sentencesOf(read(file)));
const shown = (files: readonly string[]): string[] =>
  files.flatMap((file) => literalsOf(read(file).replaceAll(COMMENT, '')).flatMap(sentencesOf));

/** Sentences by kind of text: what a user reads. */
const sentences: Readonly<Record<string, readonly string[]>> = {
  docs: markdown(pages),
  decisions: markdown(below('docs/decisions', /\.md$/)),
  help: shown([
    ...below('src/cli', /\.ts$/),
    'src/config/settings.ts',
    ...below('src/contract/settings', /\.ts$/),
  ]),
  'error texts': shown(below('src/lib/errors', /-errors\.ts$/)),
};
const CONSTRUCTIONS_RATE = 'constructions per 1,000 words';
/** Rounded up to halves, so that one sentence more does not fail an unrelated change. */
const rates = Object.fromEntries(
  Object.entries(sentences).map(([kind, list]) => [kind, Math.ceil(measure(list).rate * 2) / 2]),
);

const allowed: Counts = JSON.parse(readFileSync(COUNTS, 'utf8')) as Counts;

describe('plain English', () => {
  it('knows words to avoid, and looks at texts', () => {
    expect(avoided.length).toBeGreaterThan(10);
    expect(Object.keys(allowed)).toEqual([...Object.keys(found), CONSTRUCTIONS_RATE]);
    for (const text of Object.values(texts)) expect(text.length).toBeGreaterThan(5_000);
    expect(occurrences('It is told\n * as it is.', patternFor('as it is'))).toBe(1);
  });

  it.each(Object.entries(found))('says no more of the words to avoid in %s', (kind, counts) => {
    const more = Object.entries(counts)
      .filter(([word, count]) => count > (allowed[kind]?.[word] ?? 0))
      .map(([word, count]) => {
        const instead = avoided.find((each) => each.word === word)?.instead;
        const remedy = instead === undefined ? '' : `; write: ${instead}`;
        return `"${word}": ${count}, at most ${allowed[kind]?.[word] ?? 0}${remedy}`;
      });
    expect(more).toEqual([]);
  });

  it.each(Object.entries(sentences))('has few sentences that have to be decoded in %s', (kind, list) => {
    const { words, found: sentencesBy } = measure(list);
    expect(words).toBeGreaterThan(1_000);
    if (process.env['SHOW_PROSE'] === kind) process.stdout.write(`${JSON.stringify(sentencesBy, null, 2)}\n`);
    expect(rates[kind]).toBeLessThanOrEqual(allowed[CONSTRUCTIONS_RATE]?.[kind] ?? 0);
  });

  it.runIf(process.env['LOWER_STYLE_COUNTS'] === '1')('lowers the counts', () => {
    const lowered = Object.fromEntries(
      Object.entries({ ...found, [CONSTRUCTIONS_RATE]: rates }).map(([kind, counts]) => [
        kind,
        Object.fromEntries(
          Object.entries(counts).map(([word, count]) => [
            word,
            Math.min(count, allowed[kind]?.[word] ?? count),
          ]),
        ),
      ]),
    );
    writeFileSync(COUNTS, `${JSON.stringify(lowered, null, 2)}\n`);
  });
});
