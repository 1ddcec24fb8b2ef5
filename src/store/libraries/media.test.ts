import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeFolder } from '../../../test/support/remove-folder.ts';
import type { LibraryFiles } from '../../lib/files/native-library.ts';
import { installMedia } from './media.ts';

const NAME = 'libmtmd.so';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-media-'));
});
afterEach(() => removeFolder(folder));

async function install(content: string, tryOut: () => Promise<boolean>): Promise<string> {
  const from = await mkdtemp(join(folder, 'built-'));
  await writeFile(join(from, NAME), content);
  const against = { isOwn: false } as LibraryFiles;
  return installMedia({ libraries: join(folder, 'libraries'), against, from, tryOut });
}

describe('libmtmd that was built', () => {
  it('replaces the former one if it works', async () => {
    await install('old', async () => true);
    const file = await install('new', async () => true);
    expect(await readFile(file, 'utf8')).toBe('new');
  });

  it.each([
    ['does not work', async () => false],
    ['cannot be tried', () => Promise.reject(new Error('no worker starts'))],
  ])('leaves the former one if it %s', async (_, tryOut) => {
    const file = await install('old', async () => true);
    await expect(install('new', tryOut)).rejects.toThrow(/cannot be loaded/);
    expect(await readFile(file, 'utf8')).toBe('old');
    // Nothing of either attempt is left next to it.
    expect(await readdir(join(file, '..', '..'))).toHaveLength(1);
  });

  it('leaves nothing if the first one does not work', async () => {
    await expect(install('new', async () => false)).rejects.toThrow(/cannot be loaded/);
    const left = await readdir(join(folder, 'libraries'), { recursive: true });
    expect(left.filter((name) => name.includes('libmtmd'))).toEqual([]);
  });
});
