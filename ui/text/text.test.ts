import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockReader, blocksOf } from './blocks.ts';
import { safeAddress } from './markdown.tsx';

const MARKDOWN = fc
  .array(
    fc.constantFrom(
      '# a\n',
      'text ',
      '\n\n',
      '- item\n',
      '```js\n',
      '```\n',
      '> q\n',
      '| a | b |\n',
      '|--|--|\n',
      '**b**',
      '1. x\n',
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('blocks', () => {
  it('of a text that grew are those of the whole text', () => {
    fc.assert(
      fc.property(MARKDOWN, fc.integer({ min: 1, max: 9 }), (text, step) => {
        const read = blockReader();
        let last: ReturnType<typeof read> = [];
        for (let end = step; end < text.length + step; end += step) last = read(text.slice(0, end));
        const raw = (blocks: typeof last) => blocks?.map((block) => block.raw).join('');
        expect(raw(last)).toBe(raw(blocksOf(text)));
      }),
    );
  });

  it('are not read from text that nests without end, or never ends', () => {
    expect(blocksOf(`${'> '.repeat(5000)}x`)).toBeNull();
    expect(blocksOf('['.repeat(20_000))).toBeNull();
    expect(blockReader()('a'.repeat(300_000))).toBeNull();
    expect(blocksOf('> - > - x')).not.toBeNull();
  });
});

describe('a link', () => {
  it.each(['https://example.org/a', 'http://127.0.0.1:8740/', 'mailto:a@example.org'])(
    'may lead to %s',
    (href) => {
      expect(safeAddress(href)).toBe(new URL(href).href);
    },
  );

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://a/b',
    '/svc/unload',
    '//evil.example',
    'https://good.example@evil.example/',
    'x'.repeat(5000),
    '',
  ])('may not lead to %j', (href) => {
    expect(safeAddress(href)).toBeNull();
  });
});
