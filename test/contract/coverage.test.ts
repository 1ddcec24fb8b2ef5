/** Every sentence of the interface has a test that names it, and no test names a sentence that is not there. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { requirements, verifies } from './requirements.ts';

const testFolder = fileURLToPath(new URL('..', import.meta.url));

interface Citation {
  readonly file: string;
  readonly id: string;
}

/** All but this one, whose citations are wrong on purpose. */
function testFiles(): string[] {
  return readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && path.basename(file) !== 'coverage.test.ts')
    .map((file) => path.join(testFolder, file));
}

/** `verifies('id', …)` or `verifies(['id', 'id'], …)`; the ids are literals, or there are none to see here. */
const CITATION = /\bverifies\(\s*(?:\[([^\]]*)\]|('[^']*'))?/g;

function citations(): Citation[] {
  return testFiles().flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(CITATION)].flatMap(([, list, single]) => {
      const ids = [...(list ?? single ?? "'an id that is not a literal'").matchAll(/'([^']+)'/g)];
      return ids.map(([, id = '']) => ({ file: path.relative(testFolder, file), id }));
    }),
  );
}

describe('the requirements of the interface', () => {
  it('are each verified by a test', () => {
    const cited = new Set(citations().map(({ id }) => id));
    expect(Object.keys(requirements).filter((id) => !cited.has(id))).toEqual([]);
  });

  it('are cited by their right ids', () => {
    expect(citations().filter(({ id }) => !Object.hasOwn(requirements, id))).toEqual([]);
  });

  it('are not verified by tests that are switched off', () => {
    const off = testFiles().filter(
      (file) =>
        /\bverifies\(/.test(readFileSync(file, 'utf8')) &&
        /\b(?:it|test|describe)\.(?:skip|todo|only)\b/.test(readFileSync(file, 'utf8')),
    );
    expect(off).toEqual([]);
  });

  it('are cited by assertions, not by name alone', () => {
    expect(() => verifies('body.json', () => {})).toThrow('cited without an assertion');
    const failing = () => verifies('body.json', () => expect('text/plain').toBe('application/json'));
    expect(failing).toThrow(/to be 'application\/json'/);
    // What is asserted later would count too late, or in vain.
    const late = async () => expect(await Promise.resolve(1)).toBe(1);
    expect(() => verifies('body.json', () => late() as unknown as void)).toThrow('await before it');
    verifies(['body.json', 'error.error'], () => expect(1).toBe(1));
  });

  it('have quotes of their own', () => {
    const quotes = Object.values(requirements).map(({ section, quote }) => `${section}: ${quote}`);
    expect(new Set(quotes).size).toBe(quotes.length);
  });
});
