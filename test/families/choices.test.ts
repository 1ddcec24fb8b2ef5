/**
 * Values that a schema lists are the only ones that a model can write, in every format with arguments outside JSON and
 * wherever the schema lists them; and each of them can be written.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ModelFormat } from '../../packages/chat-templates/src/tool-format/tool-format.ts';
import { writeCalls } from '../../packages/chat-templates/src/tool-format/write-calls.ts';
import { answerGrammar, plannedGrammar } from '../../src/worker/answer/answer-grammar.ts';
import { acceptor } from '../../packages/schema-grammar/test/grammar-accept.ts';

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

/** Each keyword with a value that breaks it alone: the grammar refuses the value, or the keyword is named. */
const KEYWORDS: Readonly<Record<string, readonly [schema: object, wrong: unknown, at?: string]>> = {
  pattern: [{ type: 'string', pattern: '^a+$' }, 'zz'],
  'pattern behind $ref': [{ $ref: '#/$defs/P' }, 'zz', '/$defs/P/pattern'],
  'pattern in a union': [
    { anyOf: [{ type: 'string', pattern: '^a+$' }, { type: 'null' }] },
    'zz',
    '/properties/m/anyOf/0/pattern',
  ],
  'pattern in a list': [
    { type: 'array', items: { type: 'string', pattern: '^a+$' } },
    ['zz'],
    '/properties/m/items/pattern',
  ],
  minLength: [{ type: 'string', minLength: 3 }, 'zz'],
  maxLength: [{ type: 'string', maxLength: 1 }, 'zz'],
  format: [{ type: 'string', format: 'date' }, 'zz'],
  not: [{ type: 'string', not: { const: 'zz' } }, 'zz'],
  if: [{ type: 'string', if: { maxLength: 1 }, else: { const: 'abc' } }, 'zz'],
  minimum: [{ type: 'number', minimum: 5 }, 1],
  maximum: [{ type: 'number', maximum: 5 }, 9],
  exclusiveMinimum: [{ type: 'number', exclusiveMinimum: 5 }, 5],
  exclusiveMaximum: [{ type: 'number', exclusiveMaximum: 5 }, 5],
  multipleOf: [{ type: 'integer', multipleOf: 5 }, 7],
  type: [{ type: 'integer' }, 1.5],
  minItems: [{ type: 'array', items: letters, minItems: 2 }, ['alpha']],
  maxItems: [{ type: 'array', items: letters, maxItems: 1 }, ['alpha', 'alpha']],
  prefixItems: [{ type: 'array', prefixItems: [{ const: 'alpha' }] }, ['beta']],
  contains: [{ type: 'array', contains: { const: 'alpha' } }, ['beta']],
  required: [{ type: 'object', properties: { a: letters }, required: ['a'] }, {}],
  properties: [{ type: 'object', properties: { a: letters } }, { a: 'gamma' }],
  additionalProperties: [{ type: 'object', properties: {}, additionalProperties: false }, { a: 'b' }],
  patternProperties: [{ type: 'object', patternProperties: { '^a': letters } }, { a: 'gamma' }],
  propertyNames: [{ type: 'object', propertyNames: { enum: ['a'] } }, { b: 'c' }],
  minProperties: [{ type: 'object', minProperties: 1, additionalProperties: { type: 'string' } }, {}],
  maxProperties: [
    { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
    { a: 'b', c: 'd' },
  ],
  'type of anything but a list': [{ type: 'array' }, { a: 1 }, '/properties/m/type'],
  dependentRequired: [
    { type: 'object', properties: { a: letters, b: letters }, dependentRequired: { a: ['b'] } },
    { a: 'alpha' },
  ],
};

/** The same of the object of all arguments. */
const OF_ROOT: Readonly<Record<string, readonly [schema: object, wrong: object]>> = {
  minProperties: [{ properties: { m: letters }, minProperties: 1 }, {}],
  maxProperties: [
    { properties: { m: letters, n: letters }, maxProperties: 1 },
    { m: 'alpha', n: 'alpha' },
  ],
  dependentRequired: [
    { properties: { m: letters, n: letters }, dependentRequired: { m: ['n'] } },
    { m: 'alpha' },
  ],
  anyOf: [{ properties: { m: letters }, anyOf: [{ required: ['m'] }] }, {}],
  not: [{ properties: { m: letters }, not: { required: ['m'] } }, { m: 'alpha' }],
  required: [{ properties: { m: letters }, required: ['n'] }, { m: 'alpha' }],
  additionalProperties: [{ properties: { m: letters }, additionalProperties: letters }, { n: 'gamma' }],
};

describe.each(TAGGED)('keywords on %s', (_name, format) => {
  const planned = (parameters: Record<string, unknown>) =>
    plannedGrammar({
      format: { kind: 'text' },
      tools: [{ name: 'f', description: '', parameters }],
      choice: { mode: 'required' },
      maxCalls: 1,
      model: format,
      inContent: false,
      thinking: { at: 'nowhere' },
    });
  const heldOrNamed = (
    parameters: Record<string, unknown>,
    args: object,
    [pointer, keyword]: readonly [string, string],
  ) => {
    const { gbnf, unheld } = planned(parameters);
    const isHeld = !acceptor(gbnf ?? '')(textOf(format, args));
    // A keyword that is named stands for all within it.
    const place = `${pointer}/${keyword}/`;
    const isNamed = unheld.some((each) => place.startsWith(`${each.pointer}/${each.keyword}/`));
    expect({ isHeld, isNamed }).not.toEqual({ isHeld: false, isNamed: false });
    expect(unheld.every(({ tool }) => tool === 'f')).toBe(true);
  };

  it.each(Object.entries(KEYWORDS))('%s is held or named', (keyword, [schema, wrong, at]) => {
    const parameters = {
      type: 'object',
      properties: { m: schema },
      required: ['m'],
      $defs: { P: { type: 'string', pattern: '^a+$' } },
    };
    const place = at ?? `/properties/m/${keyword}`;
    const cut = place.lastIndexOf('/');
    heldOrNamed(parameters, { m: wrong }, [place.slice(0, cut), place.slice(cut + 1)]);
  });

  it.each(Object.entries(OF_ROOT))('%s of all arguments is held or named', (keyword, [schema, wrong]) => {
    heldOrNamed({ type: 'object', ...schema }, wrong, ['', keyword]);
  });

  it.each(Object.entries(SHAPES))('%s names nothing', (_shape, { schema }) => {
    const { unheld } = planned({ type: 'object', properties: { m: schema }, required: ['m'], $defs });
    expect(unheld.filter(({ keyword }) => keyword !== 'type')).toEqual([]);
  });
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

function written(format: ModelFormat, m: unknown): string {
  return textOf(format, { m });
}

function textOf({ tools }: ModelFormat, args: object): string {
  if (tools === null) throw new Error('the format has no calls');
  return writeCalls(tools, [{ name: 'f', id: 'abcdefghi', arguments: args }])
    .map(({ text }) => text)
    .join('');
}
