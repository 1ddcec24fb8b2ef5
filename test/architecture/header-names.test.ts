/** Header names are written once, in wire/headers.ts; everything else asks for them there. */
import { describe, expect, it } from 'vitest';
import { files, textOf } from './sources.ts';

const HOME = 'wire/headers.ts';
/** Its sentences are documentation for people, and lib/ knows no wire. */
const SENTENCES = 'lib/errors/engine-errors.ts';

const code = (file: string): string => textOf(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
const naming = files.filter((file) => /x-svc-/i.test(code(file)));

describe('header names', () => {
  it('stand in one file', () => {
    expect(naming).toContain(HOME);
    expect(naming.filter((file) => file !== HOME && file !== SENTENCES)).toEqual([]);
  });

  it('are unknown to trust, comments included', () => {
    const knowing = files.filter(
      (file) => file.startsWith('trust/') && /x-svc-|content-digest/i.test(textOf(file)),
    );
    expect(knowing).toEqual([]);
  });
});
