/** Styles are added to an answer; its text is never touched, however the stream is cut. */
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkdownStyler } from './markdown.ts';

const style = (...parts: string[]): string => {
  const styler = new MarkdownStyler();
  return parts.map((part) => styler.feed(part)).join('') + styler.end();
};
const ESCAPE = '\u001b[';
/** Escape sequences as `<1;3>`. */
const shown = (...parts: string[]): string =>
  style(...parts)
    .split(ESCAPE)
    .map((part, index) => (index === 0 ? part : part.replace(/^([\d;]*)m/, '<$1>')))
    .join('');

describe('markdown in a terminal', () => {
  it.each([
    ['a **b** c', 'a <0;1>**b**<0> c'],
    ['*i* and ***both***', '<0;3>*i*<0> and <0;3;1>***both***<0>'],
    ['use `x * y`!', 'use <0;36>`x * y`<0>!'],
    ['# Title\nrest', '<0;1># Title<0>\nrest'],
    ['```js\na *b*\n```\nc', '<0;2>```js<0>\n<0;36>a *b*<0>\n<0;36><0;2>```<0>\nc'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['* item\n* item', '* item\n* item'],
    ['snake_case a*b #1', 'snake_case a*b #1'],
    ['open *never\nplain', 'open <0;3>*never<0>\nplain'],
  ])('%j becomes %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('keeps every character, and does not depend on how the stream is cut', () => {
    const markdown = fc.string({ unit: fc.constantFrom(...'a *`#\n_>-1é'), maxLength: 60 });
    fc.assert(
      fc.property(markdown, fc.nat(60), (text, at) => {
        expect(stripVTControlCharacters(style(text))).toBe(text);
        expect(style(text.slice(0, at), text.slice(at))).toBe(style(text));
      }),
    );
  });
});
