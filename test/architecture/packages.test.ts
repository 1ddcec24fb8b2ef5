/** The packages of this repository: each stands alone, with a README and tests, and knows nothing of the service. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isWithin, packageNames } from './sources.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.ts'));

const importsIn = (file: string): string[] =>
  [...read(file).matchAll(/(?:from |import\(|import )'(\.[^']+)'/g)]
    .map(([, target = '']) => path.posix.join(path.posix.dirname(file), target))
    .filter((target) => existsSync(target));

/** Everything that the files import, directly or by others, each with a file that imports it. */
function reachable(files: readonly string[]): ReadonlyMap<string, string> {
  const seen = new Map<string, string>();
  const open = files.map((file) => ({ file, by: '' }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { file, by } = next;
    if (seen.has(file)) continue;
    seen.set(file, by);
    if (file.endsWith('.ts')) open.push(...importsIn(file).map((target) => ({ file: target, by: file })));
  }
  return seen;
}

describe.each(packageNames)('packages/%s', (name) => {
  const folder = `packages/${name}`;
  const files = filesBelow(folder);

  it('has a README that says how to test it', () => {
    expect(read(`${folder}/README.md`)).toMatch(/`npm test` in this folder/);
  });

  it('has tests, and a command that runs them alone', () => {
    expect(files.filter((file) => file.endsWith('.test.ts'))).not.toEqual([]);
    const { scripts } = JSON.parse(read(`${folder}/package.json`)) as { readonly scripts: { test?: string } };
    expect(scripts.test).toMatch(/^vitest run\b/);
  });

  it('reaches no file of the service and of its build, tests included', () => {
    const reached = reachable(files);
    expect(reached.size).toBeGreaterThan(files.length - 1);
    const known = [...reached].filter(([file]) => ['src', 'ui', 'dist'].some((top) => isWithin(file, top)));
    expect(known).toEqual([]);
  });

  it('does not name the service in its sources', () => {
    const naming = files.filter((file) => isWithin(file, `${folder}/src`) && /\bHearth\b/.test(read(file)));
    expect(naming).toEqual([]);
  });
});
