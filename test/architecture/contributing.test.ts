/** CONTRIBUTING.md tells the truth: where things are added, and how commits are named. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Row {
  readonly what: string;
  /** Paths in src/, packages/ and ui/, without the pattern of a file's name. */
  readonly paths: readonly string[];
  /** Tests and pages. */
  readonly others: readonly string[];
  readonly examples: readonly string[];
}

const words = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

const rows: readonly Row[] = readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| an? /.test(line))
  .map((line) => {
    const [, what = '', touch = '', examples = ''] = line.split('|').map((cell) => cell.trim());
    const paths = words(touch).filter((word) => /^(src|packages|ui)\//.test(word));
    const others = words(touch).filter((word) => /^(test\/.*\.test\.ts|docs\/.*\.md)$/.test(word));
    return { what, paths, others, examples: words(examples) };
  });

const sources = ['src', 'packages', 'ui']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }).map((entry) =>
      path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
    ),
  )
  .filter((file) => /\.tsx?$/.test(file) && !file.includes('.test.'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

const isNamed = (file: string, place: string): boolean =>
  file === place || (place.endsWith('/') && file.startsWith(place));

describe('the table of what to touch', () => {
  it('has the rows with examples', () => {
    expect(rows.filter(({ examples }) => examples.length > 0).length).toBeGreaterThanOrEqual(8);
  });

  it.each(rows.filter(({ examples }) => examples.length > 0))(
    '$what: its example is in all of its paths, and nowhere else',
    (row) => {
      const files = sources
        .filter(({ text }) =>
          row.examples.some((example) => new RegExp(`(?<![A-Za-z0-9])${example}(?![A-Za-z0-9])`).test(text)),
        )
        .map(({ file }) => file);
      expect(files.filter((file) => !row.paths.some((place) => isNamed(file, place)))).toEqual([]);
      const optional = [
        'src/server/app.ts',
        'src/cli/verbs/',
        'ui/',
        'src/server/engine/ports.ts',
        'src/wire/',
      ];
      const empty = row.paths.filter((place) => !files.some((file) => isNamed(file, place)));
      expect(empty.filter((place) => !optional.includes(place))).toEqual([]);
      const isExample = (file: string): boolean =>
        row.examples.some((example) => readFileSync(path.join(root, file), 'utf8').includes(example));
      expect(row.others.filter((file) => !isExample(file))).toEqual([]);
    },
  );

  it('names the lists of sampling options in tests and pages', () => {
    const [row] = rows.filter(({ what }) => what === 'a sampling option');
    expect(row?.others).toEqual(['test/contract/sampling-options.test.ts', 'docs/evidence.md']);
  });
});

const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
const recent = git('log', '-10', '--no-merges', '--format=%s');

it.skipIf(recent.status !== 0)(
  'the last commits have a subject of the form area: imperative, at most 72 characters',
  () => {
    const subjects = recent.stdout.trim().split('\n');
    expect(
      subjects.filter((subject) => !/^[a-z][\w ,./-]*: \S.*[^.]$/.test(subject) || subject.length > 72),
    ).toEqual([]);
  },
);
