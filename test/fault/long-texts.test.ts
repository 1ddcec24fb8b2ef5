/**
 * Regular expressions that run on texts from outside, each with the text that makes a careless one backtrack. It takes
 * milliseconds where each character is read a few times, and hours where it is read as often as there are others, so
 * that the limit on a hung test tells them apart on any machine.
 */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { answerWidth } from '../../src/server/api/embedding/width.ts';
import { positive } from '../../src/contract/settings/values.ts';
import { parseGbnf } from '../../packages/schema-grammar/src/gbnf/gbnf-parse.ts';
import { writeScalar } from '../../src/lib/json/spelled-numbers.ts';
import { parseLoose } from '../../packages/chat-templates/src/tool-format/values/loose-values.ts';
import { thinkingVariables } from '../../src/worker/answer/plan-answer.ts';
import { Program } from '../../packages/chat-templates/src/template.ts';
import { templateMarks } from '../../src/worker/prompt/template-marks.ts';

const MANY = 500_000;
const HUNG_MS = 20_000;
const many = (text: string): string => text.repeat(MANY / text.length);
const bounds = { steps: 1e9, characters: 1e9, elements: 1e9 };
const render = (x: string) => new Program('{{ x % 1 }}').render({ x }, bounds).string;
const marksOf = (text: string) => {
  const program = new Program(`{% for message in messages %}{{ message.content }}${text}{% endfor %}`);
  const vocabulary = { userDefinedTexts: [], controlTexts: [] };
  return templateMarks((probe) => program.render({ ...probe }, bounds), vocabulary as never).texts;
};

describe('a long text is read in one pass', () => {
  it.each<[name: string, read: () => unknown, expected: unknown]>([
    ['blanks in a repetition', () => grammarOf(`root ::= "a"{1,${many(' ')}x`), /the repetition is not/],
    ['blanks before a comma', () => grammarOf(`root ::= "a"{1${many(' ')}x`), /the repetition is not/],
    ['digits of a setting', () => positive(9).read(`${many('1')}x`), undefined],
    ['digits of a value', () => parseLoose(`${many('1')}x`), undefined],
    ['blocks that a template leaves open', () => thinkingVariables(many('{%'), { enabled: true }), {}],
    ['keys that a format leaves open', () => failure(() => render(many('%('))), /./],
    ['zeros of a format', () => failure(() => render(`%${many('0')}`)), /./],
    ['brackets that a template leaves open', () => marksOf(many('<')), []],
    ['hashes', () => marksOf(many('#')), []],
    ['a name of a model', () => failure(() => answerWidth(model(many('arctic-embed')), 7)), /./],
  ])('%s', (_, read, expected) => {
    // Nothing else ends a regular expression.
    const found: unknown = runInNewContext('read()', { read }, { timeout: HUNG_MS });
    if (expected instanceof RegExp) expect(found).toMatch(expected);
    else expect(found).toEqual(expected);
  });

  it('and the usual ones mean what they did', () => {
    const repeats = ['{2}', '{2,}', '{2,3}', '{ 2 , 3 }', '{ 2 , }'];
    const { rules } = parseGbnf(`root ::= ${repeats.map((each) => `"a"${each}`).join(' ')}`, Error);
    expect(rules.get('root')?.[0]).toMatchObject([
      { min: 2, max: 2 },
      { min: 2, max: null },
      { min: 2, max: 3 },
      { min: 2, max: 3 },
      { min: 2, max: null },
    ]);
    const numbers = ['1', '-1', '1.', '1.5', '.5', '1e3', '1.e-2', '.5E+1'];
    expect(numbers.map((text) => Number(writeScalar(parseLoose(text))))).toEqual([
      1, -1, 1, 1.5, 0.5, 1_000, 0.01, 5,
    ]);
    for (const text of ['.', '1..2', '-', '1e', '--1']) expect(parseLoose(text)).toBeUndefined();
    expect(thinkingVariables('{% if thinking %}{{ x }', { enabled: true })).toEqual({ thinking: true });
    expect(new Program('{{ "%05d|%(a)s" }}{{ "%05d" % 7 }}').render({}, bounds).string).toBe(
      '%05d|%(a)s00007',
    );
    expect(marksOf('<<b>> ## Rule: <|im_end|>')).toEqual(['<<b>>', '## Rule:', '<|im_end|>']);
  });
});

const grammarOf = (text: string): string => failure(() => parseGbnf(text, Error));

function failure(run: () => unknown): string {
  try {
    run();
    return '';
  } catch (error) {
    return String(error);
  }
}

const model = (name: string) => ({ id: 'm', name, architecture: 'bert', embeddingWidth: 8 });
