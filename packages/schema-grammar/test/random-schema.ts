/** Random JSON Schemas from the enforceable subset, for property tests. Sizes stay small, so that answers end. */
import type { Random } from './grammar-walk.ts';

export type JsonSchema = Record<string, unknown>;

export interface SchemaShape {
  /** Free JSON, recursion, open objects, digits and formats can grow long when a model without sense writes them. */
  readonly unbounded: boolean;
}

const NAMES = ['name', 'age', 'city', 'tags', 'a', 'ab', 'abc', 'unit', 'näme', 'with space', 'quo"te', 'id'];
const WORDS = ['red', 'green', 'blau', '', 'a"b', 'back\\slash', 'ünï', '😀', 'line\nbreak'];
const PATTERNS = [
  '^[a-z]{2,5}$',
  '^(?:ab|cd)+x?$',
  '^\\d{3}-\\d{4}$',
  '^[^0-9]{1,4}$',
  'x\\d',
  '^v',
  '^"\\w"$',
  '^.{0,4}$',
];
const SHORT_FORMATS = ['date', 'uuid', 'ipv4'];
const FORMATS = [...SHORT_FORMATS, 'time', 'date-time', 'email', 'uri', 'hostname'];

export function randomSchema(
  random: Random,
  shape: SchemaShape = { unbounded: true },
  depth = 3,
): JsonSchema {
  const int = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => items[int(0, items.length - 1)] as T;
  const nested = () => randomSchema(random, shape, depth - 1);
  const scalars = [
    () => stringSchema(random, int, pick, shape),
    () => integerSchema(int, shape),
    () => numberSchema(int, random, shape),
    () => ({ type: pick(['boolean', 'null']) }),
    () => ({ enum: [pick(WORDS), int(-5, 5), null, pick([true, false]), [1, 'x'], { k: pick(WORDS) }] }),
    () => ({ const: pick([...WORDS, 3.25, null]) }),
    () => ({ type: ['string', 'null'], maxLength: 4 }),
  ];
  if (depth <= 0) return pick(scalars)();
  const compounds = [
    () => objectSchema(random, int, pick, nested, shape),
    () => objectSchema(random, int, pick, nested, shape),
    () => arraySchema(int, random, nested),
    () => ({ anyOf: [nested(), nested()] }),
    () => ({
      oneOf: [
        { type: 'string', maxLength: 3 },
        { type: ['integer', 'boolean'], minimum: 0, maximum: 9 },
      ],
    }),
    () => variantSchema(nested),
    () => ({
      allOf: [
        { type: 'object', properties: { p: nested() }, required: ['p'] },
        { properties: { q: { type: 'boolean' } } },
      ],
    }),
    () => ({ $ref: '#/$defs/leaf' }),
  ];
  if (shape.unbounded) {
    compounds.push(
      () => ({ $ref: '#/$defs/tree' }),
      () => pick([{}, { type: 'object' }, { type: 'array' }]),
    );
  }
  return random() < 0.3 ? pick(scalars)() : pick(compounds)();
}

/** A schema with the definitions that `randomSchema` refers to. */
export function randomRootSchema(
  random: Random,
  shape: SchemaShape = { unbounded: true },
  depth = 3,
): JsonSchema {
  const body = randomSchema(random, shape, depth);
  const $defs = {
    leaf: { type: 'string', minLength: 1, maxLength: 6 },
    tree: {
      type: 'object',
      properties: { v: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] } },
      required: ['v', 'next'],
    },
  };
  return { ...body, $defs };
}

type Int = (low: number, high: number) => number;
type Pick = <T>(items: readonly T[]) => T;

function stringSchema(random: Random, int: Int, pick: Pick, shape: SchemaShape): JsonSchema {
  const kind = random();
  // A model without sense would search for ever for the match that an open pattern asks for.
  const patterns = PATTERNS.filter((pattern) => shape.unbounded || pattern.endsWith('$'));
  if (kind < 0.25) return { type: 'string', pattern: pick(patterns) };
  if (kind < 0.5) return { type: 'string', format: pick(shape.unbounded ? FORMATS : SHORT_FORMATS) };
  const minLength = int(0, 4);
  if (kind < 0.6) return { type: 'string', minLength, maxLength: minLength + int(100, 300) };
  return { type: 'string', minLength, maxLength: minLength + int(0, 8) };
}

function integerSchema(int: Int, shape: SchemaShape): JsonSchema {
  const minimum = int(-1200, 1200);
  const choices: JsonSchema[] = [
    { type: 'integer', minimum, maximum: minimum + int(0, 3000) },
    { type: 'integer', exclusiveMinimum: minimum, exclusiveMaximum: minimum + int(2, 50) },
    { type: 'integer', minimum },
    { type: 'integer', maximum: minimum },
    { type: 'integer' },
  ];
  return choices[int(0, shape.unbounded ? choices.length - 1 : 1)] as JsonSchema;
}

function numberSchema(int: Int, random: Random, shape: SchemaShape): JsonSchema {
  const minimum = Math.round((random() * 20 - 10) * 1000) / 1000;
  if (!shape.unbounded) return { type: 'number', minimum, maximum: minimum + 9, multipleOf: 0.25 };
  const choices: JsonSchema[] = [
    { type: 'number', minimum: 0, maximum: 1 },
    { type: 'number', minimum, maximum: Math.round((minimum + random() + 0.01) * 1000) / 1000 },
    { type: 'number', exclusiveMinimum: minimum },
    { type: 'number', exclusiveMaximum: minimum, minimum: minimum - 3 },
    { type: 'number' },
  ];
  return choices[int(0, choices.length - 1)] as JsonSchema;
}

function objectSchema(
  random: Random,
  int: Int,
  pick: Pick,
  nested: () => JsonSchema,
  shape: SchemaShape,
): JsonSchema {
  const names = NAMES.filter(() => random() < 0.3);
  const properties = Object.fromEntries(names.map((name) => [name, nested()]));
  const required = names.filter(() => random() < 0.6);
  const extras: unknown[] = [undefined, false];
  if (shape.unbounded) extras.push(true, { type: 'boolean' });
  const additionalProperties = pick(extras);
  return {
    type: 'object',
    properties,
    required,
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  };
}

function arraySchema(int: Int, random: Random, nested: () => JsonSchema): JsonSchema {
  const minItems = int(0, 2);
  if (random() < 0.3) {
    return {
      type: 'array',
      prefixItems: [nested(), { type: 'boolean' }],
      items: random() < 0.5 ? false : { type: 'null' },
      minItems,
      maxItems: 3,
    };
  }
  return { type: 'array', items: nested(), minItems, maxItems: minItems + int(0, 2) };
}

function variantSchema(nested: () => JsonSchema): JsonSchema {
  const variant = (kind: string) => ({
    type: 'object',
    properties: { kind: { const: kind }, value: nested() },
    required: ['kind', 'value'],
    additionalProperties: false,
  });
  return { oneOf: [variant('one'), variant('two')] };
}
