/** Failures are made in one way: one class, one table, and every sentence is made of what its code declares. */
import { describe, expect, it } from 'vitest';
import { files, textOf } from './sources.ts';

// A variable, because scripts have no types.
const script = '../../scripts/sample-sentence.mjs';
const { sampleSentence } = (await import(script)) as {
  sampleSentence(code: string, members: object, sentence: (detail: never) => string): string;
};

describe('errors', () => {
  it('have one class outside the CLI and one for each package', () => {
    const classes = files.filter((file) => /\bclass \w+(?:<[^>]*>)? extends \w*Error\b/.test(textOf(file)));
    expect(classes.filter((file) => !file.startsWith('cli/'))).toEqual([
      'lib/errors/svc-error.ts',
      'packages/chat-templates/src/template-error.ts',
      'packages/gguf/src/gguf-error.ts',
      'packages/schema-grammar/src/grammar-error.ts',
    ]);
  });
});

describe('the sentence in docs/errors.md', () => {
  it('has a placeholder for each member, and nothing for one that may be missing', () => {
    const sentence = (d: { model: string; least?: boolean }) =>
      `${d.least === true ? 'at least ' : ''}${d.model}.`;
    expect(sampleSentence('x', { model: 'string', least: 'boolean?' }, sentence)).toBe('<model>.');
  });

  it.each([
    ['a member that its code does not declare', { model: 'string' }, (d: { path?: string }) => `${d.path}.`],
    ['an optional member as if it were there', { path: 'string?' }, (d: { path?: string }) => `${d.path}.`],
    ['an object', { path: 'string' }, (d: object) => `${String({ ...d })}.`],
  ])('is refused where it shows %s', (_, members, sentence) => {
    expect(() => sampleSentence('x', members, sentence)).toThrow(/^x: /);
  });
});
