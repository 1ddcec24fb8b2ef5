import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

it('the README names only entries that there are', () => {
  const { exports } = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const [, table = ''] = read('README.md').split(/\| entry +\|/);
  const named = [...table.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) +\|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => `./${name}`),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !(name in exports))).toEqual([]);
});
