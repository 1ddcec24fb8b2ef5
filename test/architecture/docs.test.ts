/** The pages: links lead somewhere, every guide and every decision can be reached from the README, decisions have one form. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Built or fetched; training/cards holds the templates of the model cards. */
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'dist.next', 'generated', '.git', 'cards', '.work']);

function pagesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : pagesBelow(name);
    return name.endsWith('.md') ? [name] : [];
  });
}

const pages = pagesBelow('.');
const textOf = (page: string): string => readFileSync(page, 'utf8');
const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

interface Link {
  readonly target: string;
  /** Below the root, without the anchor. */
  readonly file: string;
  readonly anchor: string;
}

/** Relative links only; what stands behind an URL is not ours to promise. */
function linksOf(page: string): Link[] {
  const targets = [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return targets
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return {
        target,
        anchor,
        file: file === '' ? page : path.posix.join(path.posix.dirname(page), file),
      };
    });
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  const text = textOf(page).replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ +(.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isBroken({ file, anchor }: Link): boolean {
  if (!existsSync(file)) return true;
  return anchor !== '' && file.endsWith('.md') && !anchorsOf(file).includes(anchor);
}

/** Every page that can be reached by links, a link to a folder being one to its README. */
function reachableFrom(start: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    if (seen.has(page) || !existsSync(page)) continue;
    seen.add(page);
    open.push(...linksOf(page).flatMap(({ file }) => (file.endsWith('.md') ? [file] : [])));
  }
  return seen;
}

/** Paths below src/ and test/ that a page names in code. */
const namedPaths = (page: string): string[] =>
  [...textOf(page).matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map((match) => match[1] ?? '');

describe('what is promised', () => {
  it.each(['SECURITY.md', 'docs/reliability.md'])('by %s names files and scenarios that exist', (page) => {
    expect(namedPaths(page).length).toBeGreaterThan(10);
    expect(namedPaths(page).filter((name) => !existsSync(name))).toEqual([]);
    const scenarios = readdirSync('test/campaign', { recursive: true, encoding: 'utf8' }).flatMap(
      (name) => /(\w+)\.campaign\.ts$/.exec(name)?.[1] ?? [],
    );
    const rows = textOf(page)
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const named = rows.flatMap((row) => /campaign ((?:`\w+`(?:, )?)+)/.exec(row)?.[1]?.match(/\w+/g) ?? []);
    expect(named.filter((name) => !scenarios.includes(name))).toEqual([]);
  });

  it('names a test in every row', () => {
    const table = /\| promise \|[\s\S]*?\n\n/.exec(textOf('docs/reliability.md'))?.[0] ?? '';
    const rows = table.trim().split('\n').slice(2);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => !/\.test\.ts|campaign `/.test(row.split('|').at(-2) ?? ''))).toEqual([]);
  });
});

describe('links', () => {
  it('finds the pages', () => {
    expect(pages).toContain('README.md');
    expect(pages.length).toBeGreaterThan(40);
    expect(pages.flatMap(linksOf).length).toBeGreaterThan(100);
  });

  it.each(pages)('%s links to files and headings that exist', (page) => {
    expect(
      linksOf(page)
        .filter(isBroken)
        .map(({ target }) => target),
    ).toEqual([]);
  });
});

describe('reachability', () => {
  const reachable = reachableFrom('README.md');

  it.each(pages)('%s can be reached from the README', (page) => {
    expect(reachable.has(page)).toBe(true);
  });
});

describe('decisions', () => {
  const index = 'docs/decisions/README.md';
  const decisions = pages.filter((page) => page.startsWith('docs/decisions/') && page !== index);
  const indexed = linksOf(index).map(({ file }) => file);

  it.each(decisions)('%s has a status and the four parts, in their order', (page) => {
    expect(textOf(page)).toMatch(
      /^# .+\n\nStatus: (accepted|superseded)[^\n]*\n\n## Context\n[\s\S]+\n## Options\n[\s\S]+\n## Decision\n[\s\S]+\n## Consequences\n\n\S/,
    );
  });

  it.each(decisions)('%s has one line in the index', (page) => {
    expect(indexed.filter((file) => file === page)).toHaveLength(1);
  });
});

describe('paths', () => {
  /** The log is history: it may name what is gone. */
  const present = pages.filter((page) => page !== 'bench/LOG.md');
  const pathsOf = (page: string): string[] =>
    [...textOf(page).matchAll(/(?<![\w/.-])(?:src|test|tools|scripts)\/[\w./-]*\w\/?/g)].map(
      ([name]) => name,
    );

  it('finds the path of a chat', () => {
    expect(pathsOf('ARCHITECTURE.md').length).toBeGreaterThan(40);
  });

  it.each(present)('%s names only files and folders that exist', (page) => {
    expect(pathsOf(page).filter((name) => !existsSync(name))).toEqual([]);
  });
});
