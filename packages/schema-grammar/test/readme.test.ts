import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../src/schema-grammar.ts';
import { acceptor } from './grammar-accept.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>;
};

describe('the README', () => {
  it('has an example that does what it says', () => {
    const [, schema = ''] = /const schema = (.+);/.exec(readme) ?? [];
    const json = schema.replaceAll(/(\w+):/g, '"$1":').replaceAll("'", '"');
    const accepts = acceptor(compileSchema(JSON.parse(json), 'schema'));
    expect(['{"age":7}', '{"age":-1}', '{"age":"7"}'].map(accepts)).toEqual([true, false, false]);
  });

  it('names only entries that there are', () => {
    const [, table = ''] = readme.split(/\| entry +\|/);
    const named = [...table.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) +\|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => `./${name}`),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in exports))).toEqual([]);
  });
});
