/**
 * Values that a schema lists are the only ones that a model can write, in every format with arguments outside JSON and
 * wherever the schema lists them; and each of them can be written.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ModelFormat } from '../../src/lib/tool-format/tool-format.ts';
import { writeCalls } from '../../src/lib/tool-format/write-calls.ts';
import { answerGrammar } from '../../src/worker/answer/answer-grammar.ts';
import { acceptor } from '../support/random/grammar-accept.ts';

type Formats = Readonly<Record<string, { readonly format: Omit<ModelFormat, 'evidence'> }>>;
const formats = JSON.parse(readFileSync(new URL('formats.json', import.meta.url), 'utf8')) as Formats;
const TAGGED = Object.entries(formats).flatMap(([name, { format }]) =>
  format.tools !== null && format.channels === null && format.tools.arguments.kind === 'tagged'
    ? [[name, { ...format, evidence: [] }] as const]
    : [],
);

interface Shape {
  readonly schema: object;
  readonly right: readonly unknown[];
  readonly wrong: readonly unknown[];
}

const letters = { enum: ['alpha', 'beta'] };
const LETTERS = { right: ['alpha', 'beta'], wrong: ['gamma', 'alph', 'alphas', '', null, 7] };
const ORNULL = { right: ['alpha', 'beta', null], wrong: ['gamma', 'alphas', 7] };

/** Property `m` of a tool whose schema has these definitions. */
const $defs = {
  L: letters,
  S: { type: 'string', enum: ['alpha', 'beta'] },
  Chain: { $ref: '#/$defs/L' },
  Tree: { type: 'array', items: { $ref: '#/$defs/Tree' } },
};

const SHAPES: Readonly<Record<string, Shape>> = {
  enum: { schema: letters, ...LETTERS },
  'a typed enum': { schema: $defs.S, ...LETTERS },
  const: { schema: { const: 'alpha' }, right: ['alpha'], wrong: ['beta', null, 7] },
  $ref: { schema: { $ref: '#/$defs/L', description: 'x' }, ...LETTERS },
  'a chain of $ref': { schema: { $ref: '#/$defs/Chain' }, ...LETTERS },
  'allOf with $ref': { schema: { allOf: [{ $ref: '#/$defs/S' }], default: 'alpha' }, ...LETTERS },
  'allOf beside a type': { schema: { allOf: [{ type: 'string' }, letters] }, ...LETTERS },
  'anyOf of enum and const': { schema: { anyOf: [{ enum: ['alpha'] }, { const: 'beta' }] }, ...LETTERS },
  'oneOf of const': { schema: { oneOf: [{ const: 'alpha' }, { const: 'beta' }] }, ...LETTERS },
  'anyOf of enum and null': { schema: { anyOf: [letters, { type: 'null' }] }, ...ORNULL },
  'anyOf of $ref and null': { schema: { anyOf: [{ $ref: '#/$defs/S' }, { type: 'null' }] }, ...ORNULL },
  'a nullable enum': { schema: { type: 'string', nullable: true, enum: ['alpha', 'beta'] }, ...ORNULL },
  'an enum with null': { schema: { type: ['string', 'null'], enum: ['alpha', 'beta', null] }, ...ORNULL },
  'nested unions': {
    schema: { anyOf: [{ oneOf: [{ const: 'alpha' }] }, { $ref: '#/$defs/L' }] },
    ...LETTERS,
  },
  'words or a number': {
    schema: { anyOf: [letters, { type: 'integer' }] },
    right: ['alpha', 'beta', 7, -12],
    wrong: ['gamma', null, true],
  },
  'words or true': {
    schema: { enum: ['alpha', true] },
    right: ['alpha', true],
    wrong: ['beta', false, null],
  },
  'an array of enum': {
    schema: { type: 'array', items: letters },
    right: [[], ['alpha'], ['alpha', 'beta', 'beta']],
    wrong: [['gamma'], ['alpha', 'gamma'], [7], [null]],
  },
  'an array of $ref': {
    schema: { type: 'array', items: { $ref: '#/$defs/L' } },
    right: [[], ['beta', 'alpha']],
    wrong: [['gamma'], [['alpha']]],
  },
};

/** Narrower than any text, and left to the check of the whole call: the grammar must not refuse a right value. */
const CHECKED: Readonly<Record<string, Shape>> = {
  pattern: { schema: { type: 'string', pattern: '^[a-z]+$' }, right: ['abc'], wrong: [] },
  maxLength: { schema: { type: 'string', maxLength: 3 }, right: ['', 'abc', '<b>'], wrong: [] },
  format: { schema: { type: 'string', format: 'uri' }, right: ['mailto:a@b.example'], wrong: [] },
  'a word or any text': {
    schema: { anyOf: [{ const: 'alpha' }, { type: 'string' }] },
    right: ['alpha', 'z'],
    wrong: [],
  },
  'a union beside a type': {
    schema: { type: 'string', anyOf: [{ pattern: '^a' }, { minLength: 5 }] },
    right: ['ab', 'zzzzz'],
    wrong: [],
  },
  'lists that refer to themselves': {
    schema: { $ref: '#/$defs/Tree' },
    right: [[[]], [[[], [[[]]]], []]],
    wrong: [],
  },
  'objects in a list': {
    schema: { type: 'array', items: { type: 'object', properties: { a: letters } } },
    right: [[{ a: 'alpha' }], []],
    wrong: [],
  },
};

it('the formats are those that are meant', () => {
  expect(TAGGED.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'Qwen3-Coder',
      'Qwen3.5-4B',
      'GLM-4.6',
      'MiniMax-M2',
      'google-gemma-4-31B-it',
      'deepseek-ai-DeepSeek-V3.2',
    ]),
  );
});

describe.each(TAGGED)('arguments of %s', (_name, format) => {
  it.each(Object.entries({ ...SHAPES, ...CHECKED }))('hold %s', (_shape, { schema, right, wrong }) => {
    const parameters = { type: 'object', properties: { m: schema }, required: ['m'], $defs };
    const gbnf = answerGrammar({
      format: { kind: 'text' },
      tools: [{ name: 'f', description: '', parameters }],
      choice: { mode: 'required' },
      maxCalls: 1,
      model: format,
      inContent: false,
      thinking: { at: 'nowhere' },
    });
    const accepts = acceptor(gbnf ?? '');
    for (const value of right) expect(accepts(written(format, value)), written(format, value)).toBe(true);
    for (const value of wrong) expect(accepts(written(format, value)), written(format, value)).toBe(false);
  });
});

function written({ tools }: ModelFormat, m: unknown): string {
  if (tools === null) throw new Error('the format has no calls');
  return writeCalls(tools, [{ name: 'f', id: 'abcdefghi', arguments: { m } }])
    .map(({ text }) => text)
    .join('');
}
