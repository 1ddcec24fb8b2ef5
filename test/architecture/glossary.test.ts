/** One word, one meaning: what docs/glossary.md bans is found neither in identifiers nor, where it says so, in prose and in what users read. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { files, textOf } from './sources.ts';
import { literalsOf } from '../style/prose.ts';

interface Banned {
  readonly prose: readonly string[];
  readonly identifiers: readonly string[];
}

const GLOSSARY = 'docs/glossary.md';

function bannedWords(): Banned {
  const rows = readFileSync(GLOSSARY, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| word '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const words = (cell: string | undefined): string[] =>
    (cell ?? '').split(', ').filter((word) => word !== '');
  const prose = rows.flatMap((cells) => words(cells[3]));
  return { prose, identifiers: [...prose, ...rows.flatMap((cells) => words(cells[4]))] };
}

/** The code without comments and texts: what is left holds identifiers and keywords. */
const codeOf = (file: string): string =>
  textOf(file)
    .replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g, '')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''");

/** `sawLongWait` and `SAW_LONG_WAIT` → " saw long wait ". */
const wordsOf = (identifier: string): string =>
  ` ${[...identifier.matchAll(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g)].join(' ').toLowerCase()} `;

/** Fields of other providers' dialects, spelled as their clients read them. */
const FOREIGN_FIELDS = new Set(['stop_reason']);

const identifiers = new Map<string, string>();
for (const file of files)
  for (const [identifier] of codeOf(file).matchAll(/[A-Za-z_$][\w$]*/g)) identifiers.set(identifier, file);
for (const field of FOREIGN_FIELDS) identifiers.delete(field);

/** The log keeps the words of its day. */
const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
].filter((page) => page !== GLOSSARY);

/** Python is shown for the libraries of others, in their words. */
const proseOf = (page: string): string =>
  readFileSync(page, 'utf8').replaceAll(/```python\n[\s\S]*?```/g, '');

/** Texts that users read: of the command line, errors, the API's descriptions and the page. */
const ui = readdirSync('ui', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
  .map((name) => readFileSync(`ui/${name.replaceAll('\\', '/')}`, 'utf8'));
const shown = [
  ...files.filter((file) => /^(?:cli|lib\/errors|wire|config)\//.test(file)).map(textOf),
  ...ui,
].flatMap((source) => literalsOf(source.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g, '')));

const { prose, identifiers: inIdentifiers } = bannedWords();

describe('glossary', () => {
  it('bans words', () => {
    expect(prose.length).toBeGreaterThan(10);
    expect(inIdentifiers.length).toBeGreaterThan(prose.length);
    expect(identifiers.size).toBeGreaterThan(2000);
    expect(wordsOf('sawLONGWait_now')).toBe(' saw long wait now ');
  });

  it.each(inIdentifiers)('no identifier says "%s"', (banned) => {
    const found = [...identifiers].filter(([identifier]) => wordsOf(identifier).includes(` ${banned} `));
    expect(found).toEqual([]);
  });

  it.each(prose)('no page and no text of the product says "%s"', (banned) => {
    const pattern = new RegExp(String.raw`\b${banned.replaceAll(' ', String.raw`\s+`)}\b`, 'i');
    expect(pages.filter((page) => pattern.test(proseOf(page)))).toEqual([]);
    expect(shown.length).toBeGreaterThan(500);
    expect(shown.filter((text) => pattern.test(text))).toEqual([]);
  });
});
