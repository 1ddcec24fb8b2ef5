/** The page of ui/: what of the service it may be built from, and what it never does with text. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { files as sources, textOf } from './sources.ts';

/** Values that are bundled into the page; everything else of src/ and packages/ is there as types only. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  'wire/headers.ts': ['service', 'proof'],
  'server/api/passport/passport-lines.ts': ['models'],
  'server/api/replay/check-claims.ts': ['proof'],
  'lib/base/bar-layout.ts': ['parts'],
  'lib/base/duration.ts': ['parts'],
  'lib/base/merge-patch.ts': ['service'],
  'packages/exact-json/src/is-json.ts': ['chat'],
  'trust/evidence/compare.ts': ['proof'],
  'trust/evidence/keyring.ts': ['proof'],
  'trust/evidence/proof-file.ts': ['proof'],
  'trust/evidence/record-text.ts': ['proof'],
  'trust/evidence/statement.ts': ['proof'],
  'trust/evidence/any-statement.ts': ['proof'],
  'trust/evidence/eval-statement.ts': ['proof'],
  'trust/evidence/vector-statement.ts': ['proof'],
  'trust/evidence/verify.ts': ['proof'],
  'trust/identity/canonical.ts': ['proof'],
  'trust/evidence/shown-keys.ts': ['proof'],
  'trust/evidence/strict-text.ts': ['proof'],
};

const files = readdirSync('ui', { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'));
const text = (file: string): string => readFileSync(path.join('ui', file), 'utf8');

const crossings = files.flatMap((file) =>
  [...text(file).matchAll(/^import\s(type\s)?([^;]*?)from\s+'([^']+)'/gm)].flatMap((match) => {
    const target = path.posix.normalize(path.posix.join('ui', path.posix.dirname(file), match[3] ?? ''));
    return /^(?:src|packages)\//.test(target)
      ? [{ file, target: target.replace(/^src\//, ''), isType: match[1] !== undefined }]
      : [];
  }),
);

describe('the page', () => {
  it('is found', () => {
    expect(files.length).toBeGreaterThan(30);
    expect(crossings.length).toBeGreaterThan(10);
  });

  it('takes types from anywhere, and values from a few places', () => {
    const values = crossings.filter(({ isType }) => !isType);
    const broken = values.filter(({ file, target }) => !BUNDLED[target]?.includes(file.split('/')[0] ?? ''));
    expect(broken).toEqual([]);
    const used = new Set(values.map(({ file, target }) => `${target} ${file.split('/')[0]}`));
    const held = Object.entries(BUNDLED).flatMap(([target, rooms]) =>
      rooms.map((room) => `${target} ${room}`),
    );
    expect(held.filter((entry) => !used.has(entry))).toEqual([]);
  });

  it('is known to no source of the service', () => {
    expect(sources.filter((file) => /from '[^']*\/ui\//.test(textOf(file)))).toEqual([]);
  });

  it('makes no markup and no code from text', () => {
    const dangerous = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/i;
    expect(files.filter((file) => dangerous.test(text(file)))).toEqual([]);
  });

  it('names no other place of the web', () => {
    expect(files.filter((file) => /https?:\/\/(?!127\.0\.0\.1)/.test(text(file)))).toEqual([]);
  });
});
