/** What breaks a checkout in another place, such as a folder with a space in its name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['bench', 'scripts', 'src', 'test', 'tools', 'training', 'ui', '.ci'];

it('no path of a file is the pathname of its URL, in which a space is %20', () => {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ).filter((name) => /\.(?:ts|mjs|js)$/.test(name) && !name.includes('node_modules'));
  expect(names.length).toBeGreaterThan(1000);
  const found = names.filter((name) =>
    /import\.meta\.url\)\s*\.pathname/.test(readFileSync(join(root, name), 'utf8')),
  );
  expect(found).toEqual([]);
});
