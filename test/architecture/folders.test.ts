/** How folders look: each with one file whose header says what the folder owns and what it does not know. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

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

const rooms = ['src', 'ui']
  .flatMap(foldersBelow)
  .map(({ name, files }) => ({ name, files: files.filter((file) => !file.endsWith('.test.ts')) }))
  .filter(({ name, files }) => name !== 'src' && files.length > 0);

/** Folders whose header a file opens with, below src/. */
function headersOf(file: string): string[] {
  const [, header = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8')) ?? [];
  const text = header.replaceAll(/\n \*/g, '');
  const knowsNot = /\b(knows? (no|nothing|neither)|(does|do) not know)\b/.test(text);
  return knowsNot ? [...text.matchAll(/(?:^|[.:] )\s*([\w/-]+) owns /g)].map(([, name = '']) => name) : [];
}

describe('folders', () => {
  it('finds them', () => {
    expect(rooms.length).toBeGreaterThan(30);
  });

  it.each(rooms)(
    '$name has one header that says what it owns and what it does not know',
    ({ name, files }) => {
      const headers = files.flatMap((file) => headersOf(path.posix.join(name, file)));
      expect(headers).toEqual([name.replace(/^src\//, '')]);
    },
  );
});
