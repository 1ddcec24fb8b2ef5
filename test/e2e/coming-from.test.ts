/** docs/coming-from.md: every command of Hearth that it names exists with its options, and the settings it names are settings. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import { FOREIGN_STORES } from '../../src/store/files/manifest.ts';
import { paramNames, readParam } from '../../src/store/registry/param-names.ts';
import { hearth } from '../support/process/hearth.ts';

const page = readFileSync('docs/coming-from.md', 'utf8');
const code = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);
const blocks = [...page.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, text = '']) => text.split('\n'));
const commands = [...code, ...blocks].flatMap((text) => /^hearth (.+?)(?: {2,}#.*)?$/.exec(text)?.[1] ?? []);
/** The verb, and the words after it that are no quoted text. */
const parsed = commands.map((line) => {
  const [verb = '', ...words] = line
    .replaceAll(/"[^"]*"/g, 'TEXT')
    .split(' -- ', 1)[0]!
    .split(' ');
  return { line, verb, words };
});

describe('a page for users of other programs', () => {
  const help = new Map<string, string>();
  beforeAll(async () => {
    for (const verb of new Set(parsed.map((each) => each.verb))) {
      const { code: status, stdout } = await hearth([verb, '--help'], {});
      expect([verb, status]).toEqual([verb, 0]);
      help.set(verb, stdout);
    }
  }, 120_000);

  it('names commands', () => {
    expect(parsed.length).toBeGreaterThan(35);
  });

  it.each(parsed)('hearth $line', async ({ verb, words }) => {
    const isGroup = /^Commands:/m.test(help.get(verb) ?? '');
    const [below = ''] = words;
    const text = isGroup ? (await hearth([verb, below, '--help'], {})).stdout : (help.get(verb) ?? '');
    expect(text).toContain(isGroup ? `hearth ${verb} ${below}` : `hearth ${verb}`);
    for (const option of words.filter((word) => /^--?[a-z]/.test(word)))
      expect(text, option).toMatch(new RegExp(`(^|[ ,])${option}(?=[ ,]|$)`, 'm'));
    // Each place for a word is one that the verb has.
    const places = words.filter((word) => !word.startsWith('-')).length;
    if (places === 0) expect(/Usage: [^\n]*<\w+>/.test(text)).toBe(false);
  });

  const pairs = parsed
    .filter(({ verb }) => verb === 'set')
    .flatMap(({ words }) => words.slice(1))
    .map((pair) => pair.split('=') as [string, string]);
  it.each(pairs)('hearth set NAME %s=%s', (name, value) => {
    const param = paramNames[name];
    expect(param).toBeDefined();
    const isFile = value === value.toUpperCase() && /[A-Z]/.test(value);
    if (param !== undefined && param !== 'stop' && !isFile)
      expect(readParam(param, value)).toHaveProperty('value');
  });

  it('names settings that exist, and programs whose models can be imported', () => {
    const named = [...page.matchAll(/SVC_[A-Z_]+/g)].map(([name]) => name);
    expect(new Set(named).size).toBeGreaterThan(12);
    const known = Object.values(settings).map(({ env }) => env);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    const [, stores = ''] = /--all +# also ([^;]+);/.exec(page) ?? [];
    expect(['ollama', ...stores.split(', ')].sort()).toEqual([...FOREIGN_STORES].sort());
  });
});
