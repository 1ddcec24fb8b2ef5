import { describe, expect, it } from 'vitest';
import { cutMarks, PromptTokens, type Tokeniser } from './prompt-tokens.ts';

const MARKS = ['<|im_start|>', '<|im_end|>'];

/** Each character is a token, and so is each mark; the separator of the continued piece is a token more. */
function wordsOf(fields: Partial<Tokeniser> = {}): { vocabulary: Tokeniser; asked: string[] } {
  const asked: string[] = [];
  const mark = new RegExp(`(${MARKS.map((each) => each.replaceAll('|', '\\|')).join('|')})`);
  const tokenize = (text: string): Uint32Array => {
    asked.push(text);
    return Uint32Array.from(
      text.split(mark).flatMap((part) => {
        const at = MARKS.indexOf(part);
        return at >= 0 ? [1_000_000 + at] : [...part].map((letter) => letter.codePointAt(0) ?? 0);
      }),
    );
  };
  const vocabulary = {
    controlTexts: MARKS,
    userDefinedTexts: [],
    separateTexts: MARKS,
    prependToken: null,
    tokenize,
    tokenizeNext: (text: string) => tokenize(`~${text}`),
    ...fields,
  } as Tokeniser;
  return { vocabulary, asked };
}

const SOURCE = '{{ "<|im_start|>" + role + content + "<|im_end|>" }}';
const piece = (text: string, continues = false) => ({ text, plain: false, continues });
const turn = (words: string): string => `<|im_start|>user\n${words}<|im_end|>\n`;

describe('PromptTokens', () => {
  it('gives the tokens of the whole text, and tokenises only what is new of a conversation', () => {
    const { vocabulary, asked } = wordsOf({ prependToken: 7 });
    const tokens = new PromptTokens(vocabulary, SOURCE);
    tokens.of([piece(turn('one'))], 'a');
    asked.length = 0;
    const text = turn('one') + turn('two');
    expect(tokens.of([piece(text)], 'a')).toEqual(Uint32Array.from([7, ...vocabulary.tokenize(text, true)]));
    expect(asked.slice(0, -1)).toEqual(['<|im_start|>user\ntwo']);
  });

  it('remembers nothing for another domain, nor for a text that goes on with another', () => {
    const { vocabulary, asked } = wordsOf();
    const tokens = new PromptTokens(vocabulary, SOURCE);
    tokens.of([piece('words')], 'a');
    tokens.of([piece('words')], 'b');
    expect(tokens.of([piece('words', true)], 'a')).toEqual(vocabulary.tokenizeNext('words'));
    expect(asked).toEqual(['words', 'words', '~words', '~words']);
  });

  it('takes plain text as it is', () => {
    const { vocabulary, asked } = wordsOf();
    const tokens = new PromptTokens(vocabulary, SOURCE);
    for (let times = 0; times < 2; times += 1) tokens.of([{ ...piece(turn('x')), plain: true }], '');
    expect(asked).toEqual([turn('x'), turn('x')]);
  });
});

describe('cutMarks', () => {
  it.each<[string, Partial<Tokeniser>, string[]]>([
    ['that the template writes', {}, MARKS],
    ['unless a token could reach over the beginning of one', { userDefinedTexts: ['x<'] }, []],
    ['unless a token could begin inside of one', { userDefinedTexts: ['>>'] }, []],
    ['unless it takes spaces from the text before it', { separateTexts: MARKS.slice(1) }, MARKS.slice(1)],
  ])('are those %s', (_, fields, marks) => {
    expect(cutMarks(wordsOf(fields).vocabulary, SOURCE)).toEqual(marks);
    expect(cutMarks(wordsOf(fields).vocabulary, 'no marks')).toEqual([]);
  });
});
