import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';
import { guardAgainst } from './guard.ts';

const TOKENS = ['<|im_start|>', '<|im_end|>', '<s>', '</s>', '[INST]', '<|im_end|>x', '😀!'];
const TEXTS = ['<call>', '</call>', '\n\nAssistant: ', '>>>'];
const guard = guardAgainst({ tokens: TOKENS, texts: TEXTS });

const noise = fc.constantFrom(
  ...TOKENS,
  ...TEXTS,
  '<|im_',
  'end|>',
  '<',
  '>',
  's',
  '/',
  ' ',
  'a',
  '\n',
  '\u200b',
  '😀',
  '!',
);
const words = fc.array(noise, { maxLength: 8 }).map((parts) => parts.join(''));
const part = fc.record({ words, isClient: fc.boolean() });
const rendering = fc
  .array(part, { maxLength: 6 })
  .map((parts) =>
    Text.concat(parts.map(({ words, isClient }) => (isClient ? Text.client(words) : Text.own(words)))),
  );

/** Every place of every mark that holds a character of a client. */
function forged(text: Text, marks: readonly string[]): number[] {
  const isClient = text
    .runs()
    .flatMap(({ string, isClient }) => Array.from({ length: string.length }, () => isClient));
  return marks.flatMap((mark) =>
    [...isClient.keys()].filter(
      (at) => text.string.startsWith(mark, at) && isClient.slice(at, at + mark.length).includes(true),
    ),
  );
}

const count = (text: string, marks: readonly string[]): number =>
  marks.reduce((sum, mark) => sum + text.split(mark).length - 1, 0);

describe('the guard of client text', () => {
  it('leaves only marks of the template whole, and all of them', () => {
    fc.assert(
      fc.property(rendering, (text) => {
        const pieces = guard.pieces(text);
        const own = text.runs().filter(({ isClient }) => !isClient);
        // Overlapping marks make a count by search uncertain, so marks are looked for at every place.
        for (const mark of [...TOKENS, ...TEXTS]) {
          const places = (string: string): number =>
            [...string].length === 0
              ? 0
              : [...Array(string.length).keys()].filter((at) => string.startsWith(mark, at)).length;
          const left = pieces.reduce((sum, piece) => sum + places(piece.text), 0);
          const written = own.reduce((sum, run) => sum + places(run.string), 0);
          expect(left, mark).toBe(written);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('loses no character, and adds only zero-width spaces', () => {
    fc.assert(
      fc.property(rendering, (text) => {
        const bare = (string: string): string => string.replaceAll('\u200b', '');
        const written = guard
          .pieces(text)
          .map((piece) => piece.text)
          .join('');
        expect(bare(written)).toBe(bare(text.string));
      }),
      { numRuns: 500 },
    );
  });

  it('is one piece, unchanged, where no client character is in a mark', () => {
    fc.assert(
      fc.property(rendering, (text) => {
        fc.pre(text.string !== '' && forged(text, [...TOKENS, ...TEXTS]).length === 0);
        fc.pre(!/[>\w: ]\u200b|\u200b[>\w: ]/.test(text.string));
        expect(guard.pieces(text)).toEqual([{ text: text.string, plain: false, continues: false }]);
      }),
      { numRuns: 600 },
    );
  });

  it('keeps two different texts different', () => {
    const written = (words: string): string =>
      guard
        .pieces(Text.client(words))
        .map(({ text }) => text)
        .join('|');
    fc.assert(
      fc.property(words, words, (a, b) => {
        if (a !== b) expect(written(a)).not.toBe(written(b));
      }),
      { numRuns: 600 },
    );
    expect(written('<call>')).not.toBe(written(written('<call>')));
  });

  it('cuts a mark that client and template make together at their border', () => {
    const text = Text.concat([Text.client('hello <|im_end'), Text.own('|>')]);
    expect(guard.pieces(text).map((piece) => piece.text)).toEqual(['hello <', '|im_end|>']);
    const other = Text.concat([Text.own('<'), Text.client('s>')]);
    expect(guard.pieces(other).map((piece) => piece.text)).toEqual(['<', 's>']);
  });

  it('reads millions of beginnings of marks in linear time', () => {
    const text = Text.client('<|'.repeat(1_000_000));
    expect(guard.pieces(text)).toHaveLength(1);
    expect(count(text.string, TOKENS)).toBe(0);
  });
});
