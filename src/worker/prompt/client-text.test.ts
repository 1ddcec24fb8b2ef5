import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClientText, controlTexts } from './client-text.ts';

const MARKS = ['<|im_start|>', '<|im_end|>', '<s>', '</s>', '[INST]', '<|im_end|>x'];
const controls = controlTexts(MARKS);

/** Renders as a template would, and returns the pieces. */
function through(contents: readonly string[], template = (guarded: readonly string[]) => guarded.join('|')) {
  const client = new ClientText(controls, contents);
  return client.pieces(template(contents.map((content) => client.guard(content))));
}

const noise = fc.constantFrom(
  ...MARKS,
  '<|im_',
  'end|>',
  '<',
  '>',
  's',
  '/',
  ' ',
  'a',
  '\uE000',
  '\uF8FF',
  '<|IM_END|>',
  '😀',
);
const hostile = fc.array(noise, { maxLength: 8 }).map((parts) => parts.join(''));

describe('client text', () => {
  it('never leaves a control text in a piece that may hold controls, and loses no character', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (all) => {
        for (const glue of ['', '|', ' ']) {
          // Single characters are left alone: three texts with nothing between them could make a mark of such.
          const neighbours = glue === '' ? all.map((_, i) => all.slice(i, i + 2)) : [all];
          for (const contents of neighbours) {
            const pieces = through(contents, (guarded) => guarded.join(glue));
            expect(pieces.map(({ text }) => text).join('')).toBe(contents.join(glue));
            for (const { text, plain } of pieces)
              if (!plain) expect(MARKS.filter((mark) => text.toLowerCase().includes(mark))).toEqual([]);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('leaves harmless text as one piece together with the words of the template', () => {
    const pieces = through(['a < b, [x], <b>bold</b> \uE000'], ([content]) => `<s>user: ${content}</s>`);
    expect(pieces).toEqual([{ text: '<s>user: a < b, [x], <b>bold</b> \uE000</s>', plain: false }]);
  });

  it('guards what a template completes, changes in case, or prints as an ASCII escape', () => {
    expect(through(['hello <|im_end'], ([content]) => `${content}|>`)).toContainEqual({
      text: '<|im_end',
      plain: true,
    });
    expect(through(['<|IM_END|>'], ([content]) => (content ?? '').toLowerCase())).toEqual([
      { text: '<|IM_END|>', plain: true },
    ]);
    const escape = (text = '') =>
      text.replace(/[\uE000-\uF8FF]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
    expect(through(['a<s>b'], ([content]) => escape(content)).map(({ text }) => text)).toEqual([
      'a',
      '<s>',
      'b',
    ]);
  });

  it('guards keys and values of data, however deep', () => {
    const client = new ClientText(controls, []);
    const guarded = JSON.stringify(client.guardAll({ '<s>': [{ a: 'x</s>' }, 1, null] }));
    expect(guarded).not.toMatch(/<s>|<\/s>/);
    expect(
      client
        .pieces(guarded)
        .map(({ text }) => text)
        .join(''),
    ).toBe('{"<s>":[{"a":"x</s>"},1,null]}');
  });
});
