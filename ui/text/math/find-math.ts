/** Finds TeX as models write it: `\(…\)`, `\[…\]`, `$$…$$` and `$…$`. Rules for marked. */
import type { TokenizerAndRendererExtension, Tokens } from 'marked';

export interface MathToken extends Tokens.Generic {
  readonly type: 'math';
  readonly text: string;
  readonly isDisplayed: boolean;
}

/** Longer formulas are shown as written, which bounds the search after each mark. */
const INLINE = /^(?:\\\(([\s\S]{1,1000}?)\\\)|\\\[([\s\S]{1,2000}?)\\\]|\$\$([^$]{1,2000}?)\$\$)/;
/** A price is not a formula: the marks enclose it without spaces, and no digit follows. */
const DOLLARS = /^\$(?![\s$])((?:[^$\\\n]|\\.){1,1000}?)(?<!\s)\$(?!\d)/;
const BLOCK = /^ {0,3}(?:\\\[([\s\S]{1,4000}?)\\\]|\$\$(?!\$)([\s\S]{1,4000}?)\$\$)[ \t]*(?:\n|$)/;

const token = (raw: string, text: string, isDisplayed: boolean): MathToken => ({
  type: 'math',
  raw,
  text: text.trim(),
  isDisplayed,
});

export const MATH_RULES: TokenizerAndRendererExtension[] = [
  {
    name: 'math',
    level: 'block',
    start: (text: string) => /(?:^|\n) {0,3}(?:\\\[|\$\$)/.exec(text)?.index,
    tokenizer(text: string) {
      const [raw, bracketed, dollars] = BLOCK.exec(text) ?? [];
      return raw === undefined ? undefined : token(raw, bracketed ?? dollars ?? '', true);
    },
  },
  {
    name: 'math',
    level: 'inline',
    start: (text: string) => /\\[([]|\$/.exec(text)?.index,
    tokenizer(text: string) {
      const [raw, inline, ...displayed] = INLINE.exec(text) ?? DOLLARS.exec(text) ?? [];
      if (raw === undefined) return undefined;
      const shown = displayed.find((each) => each !== undefined);
      return token(raw, inline ?? shown ?? '', shown !== undefined);
    },
  },
];
