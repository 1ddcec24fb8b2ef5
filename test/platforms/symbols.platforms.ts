/** Every function that Hearth calls, in the libraries of every package. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { librariesIn } from '../../src/lib/files/native-library.ts';
import { PLATFORMS } from '../../src/lib/files/platforms.ts';
import { GGML, GGML_BASE, LLAMA } from '../../packages/llama-api/src/functions.ts';
import { libraryPackage } from './downloads.ts';
import { exportsOf } from './exports.ts';

const rows = Object.entries(PLATFORMS).filter(([key]) => key !== 'linux-arm');

describe.each(rows)('the package for %s', (_key, { package: name, release }) => {
  let folder: string;
  beforeAll(async () => {
    const bins = path.join(await libraryPackage(name), 'bins');
    folder = path.join(bins, readdirSync(bins)[0] ?? '');
  });

  it('exports every function that is called, from the library that it is looked for in', () => {
    const files = librariesIn(folder);
    if (files === null) throw new Error(`${folder} has no libraries`);
    const missing = (file: string, table: object): string[] => {
      const found = exportsOf(readFileSync(file));
      return Object.keys(table).filter((each) => !found.has(each));
    };
    expect([missing(files.llama, LLAMA), missing(files.ggml, GGML), missing(files.base, GGML_BASE)]).toEqual([
      [],
      [],
      [],
    ]);
    expect(exportsOf(readFileSync(files.llama)).has('llama_no_such_function')).toBe(false);
    expect(exportsOf(readFileSync(files.llama)).has('ggml_backend_dev_name')).toBe(false);
  });

  it('is of the release that the table names, and offers a thread pool', () => {
    expect(path.basename(librariesIn(folder)?.llama ?? '')).toContain(release);
    const cpu = readdirSync(folder).filter((file) => /ggml-cpu/.test(file));
    expect(cpu.length).toBeGreaterThan(0);
    for (const file of cpu)
      expect(exportsOf(readFileSync(path.join(folder, file)))).toContain('ggml_threadpool_new');
  });
});
