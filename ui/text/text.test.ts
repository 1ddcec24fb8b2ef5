import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockReader, blocksOf } from './blocks.ts';
import { safeAddress } from './markdown.tsx';
import { decoded, unescaped } from './plain-text.ts';

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

/** Formulas that are found in a text. */
const formulasIn = (text: string): string[] => {
  const list: string[] = [];
  const walk = (tokens: readonly { type: string; text?: string; tokens?: unknown }[]): void => {
    for (const token of tokens) {
      if (token.type === 'math') list.push(token.text ?? '');
      if (Array.isArray(token.tokens)) walk(token.tokens as typeof tokens);
    }
  };
  walk(blocksOf(text) ?? []);
  return list;
};

describe('formulas', () => {
  it.each([
    [String.raw`a \(x^2\) b`, ['x^2']],
    [String.raw`\[E=mc^2\]`, ['E=mc^2']],
    ['$$\na\n= b\n$$\n\nafter', ['a\n= b']],
    ['$x_1$, $y$', ['x_1', 'y']],
    ['**bold $a*b*c$**', ['a*b*c']],
    ['$5 and $6', []],
    ['$ x $', []],
    ['`$x$` and `\\(y\\)`', []],
    ['```\n$x$\n```', []],
    [String.raw`C:\(temp`, []],
    ['$'.repeat(20_000), []],
    ['\\('.repeat(10_000), []],
  ])('of %j are found', (text, wanted) => {
    expect(formulasIn(text.slice(0, 50_000))).toEqual(wanted);
  });
});

describe('characters', () => {
  it('lose their backslash only where it takes a meaning from them', () => {
    const kept = ['\\(', '\\,', '\\[', '\\{', '\\;', '\\:', '\\^', '\\/'];
    expect(kept.map(unescaped)).toEqual(kept);
    expect(['\\*', '\\_', '\\`', '\\#', '\\$'].map(unescaped).join('')).toBe('*_`#$');
  });

  it('of entities that are known are read, and others stay', () => {
    expect(decoded('&copy; &amp;lt; &constructor; &nosuch; &')).toBe('© &lt; &constructor; &nosuch; &');
  });
});
