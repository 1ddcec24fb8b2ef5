/** How folders look: small, and each with one file whose header says what the folder owns and what it does not know. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const mostFiles = 12;

interface Folder {
  readonly name: string;
  /** Its own code files; unit tests stand beside what they test and do not count. */
  readonly files: readonly string[];
}

const isCode = (name: string): boolean => /\.(tsx?|mjs)$/.test(name);

function foldersBelow(top: string): Folder[] {
  const entries = readdirSync(top, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && isCode(entry.name)).map(({ name }) => name);
  const inner = entries.filter((entry) => entry.isDirectory());
  return [{ name: top, files }, ...inner.flatMap(({ name }) => foldersBelow(path.posix.join(top, name)))];
}

const code = ['src', 'ui', 'tools', 'bench', 'scripts', 'test']
  .flatMap(foldersBelow)
  // A fixture program is named after its fault; there is one for each.
  .filter(({ name }) => !name.split('/').includes('fixtures'))
  .map(({ name, files }) => ({ name, files: files.filter((file) => !file.endsWith('.test.ts')) }));

const rooms = code.filter(({ name, files }) => /^(?:src\/|ui(?:\/|$))/.test(name) && files.length > 0);

/** Folders whose header a file opens with, below src/. */
function headersOf(file: string): string[] {
  const [, header = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8')) ?? [];
  const text = header.replaceAll(/\n \*/g, '');
  const knowsNot = /\b(knows? (no|nothing|neither)|(does|do) not know)\b/.test(text);
  return knowsNot ? [...text.matchAll(/(?:^|[.:] )\s*([\w/-]+) owns /g)].map(([, name = '']) => name) : [];
}

describe('folders', () => {
  it('finds them', () => {
    expect(code.length).toBeGreaterThan(60);
    expect(rooms.length).toBeGreaterThan(30);
  });

  it.each(rooms)(
    '$name has one header that says what it owns and what it does not know',
    ({ name, files }) => {
      const headers = files.flatMap((file) => headersOf(path.posix.join(name, file)));
      expect(headers).toEqual([name.replace(/^src\//, '')]);
    },
  );

  it.each(code)('$name holds at most twelve files', ({ files }) => {
    expect(files.length).toBeLessThanOrEqual(mostFiles);
  });
});
