/** How folders look: small, and each with one file whose header says what the folder owns and what it does not know. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const mostFiles = 12;

interface Folder {
  readonly name: string;
  /** Its own code files; unit tests stand beside what they test and do not count. */
  readonly files: readonly string[];
}

const isCode = (name: string): boolean => /\.(ts|mjs)$/.test(name);

function foldersBelow(top: string): Folder[] {
  const entries = readdirSync(top, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && isCode(entry.name)).map(({ name }) => name);
  const inner = entries.filter((entry) => entry.isDirectory());
  return [{ name: top, files }, ...inner.flatMap(({ name }) => foldersBelow(path.posix.join(top, name)))];
}

const product = foldersBelow('src').map(({ name, files }) => ({
  name,
  files: files.filter((file) => !file.endsWith('.test.ts')),
}));

describe('folders', () => {
  it('finds them', () => {
    expect(product.length).toBeGreaterThan(30);
  });

  it.each(product)('$name holds at most twelve files', ({ files }) => {
    expect(files.length).toBeLessThanOrEqual(mostFiles);
  });
});
