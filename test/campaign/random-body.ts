/** Bodies drawn from the schemas of the routes: mostly what a route takes, with a value here and there that it does not. */
import type { Random } from '../../tools/gguf/random.ts';
import { pick } from './campaign.ts';

/** Values at which programs tend to go wrong. */
export const ODD: readonly unknown[] = [
  null,
  true,
  '',
  [],
  {},
  0,
  -0,
  -1,
  0.5,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  5e-324,
  1e-300,
  '\ud800',
  '\u0000',
  'NaN',
  '../..',
  'x'.repeat(3000),
  '__proto__',
  '{{7*7}}',
  '<|im_end|>',
  [[[[[]]]]],
  { a: { b: [null] } },
];
const WORDS = [
  'Hi',
  'a',
  'tell a story',
  'f',
  'user',
  '{"a":1}',
  '{}',
  '😀',
  'https://127.0.0.1:9/x.png',
  'auto',
];
const DEEPEST = 7;
/** One node in so many is odd. */
const ODD_EVERY = 150;
/** A campaign of requests is not one of long answers. */
const LENGTH = /^(max_(completion_|output_)?tokens|num_predict)$/;

type Schema = Readonly<Record<string, unknown>>;

/** `models` are the names that stand for models; `name` is that of the member whose value is made. */
export function bodyOf(schema: unknown, random: Random, models: readonly string[]): unknown {
  const make = (of: Schema, name: string, depth: number): unknown => {
    if (random.below(ODD_EVERY) === 0) return pick(random, ODD);
    if (name === 'model') return pick(random, models);
    if (LENGTH.test(name)) return random.below(4) + (random.below(8) === 0 ? -1 : 1);
    if ('const' in of) return of['const'];
    const several = (of['enum'] ?? of['anyOf'] ?? of['oneOf'] ?? of['allOf']) as
      | readonly unknown[]
      | undefined;
    if (several !== undefined) {
      const one = pick(random, several);
      return 'enum' in of ? one : make(one as Schema, name, depth);
    }
    const types = [of['type'] ?? 'any'].flat() as string[];
    const type = pick(random, types);
    if (type === 'object') return depth > DEEPEST ? {} : object(of, depth);
    if (type === 'array') return depth > DEEPEST ? [] : array(of, name, depth);
    return scalar(of, type, random);
  };
  const object = (of: Schema, depth: number): Record<string, unknown> => {
    const properties = (of['properties'] ?? {}) as Record<string, Schema>;
    const required = new Set((of['required'] ?? []) as string[]);
    const optional = Object.keys(properties).filter((name) => !required.has(name));
    const chance = Math.max(2, Math.ceil(optional.length / 4));
    const names = [...required, ...optional.filter(() => random.below(chance) === 0)];
    return Object.fromEntries(names.map((name) => [name, make(properties[name] ?? {}, name, depth + 1)]));
  };
  const array = (of: Schema, name: string, depth: number): unknown[] => {
    const least = Number(of['minItems'] ?? 0);
    const most = Math.min(Number(of['maxItems'] ?? 4), 4);
    const length = Math.max(least, random.below(most + 1));
    return Array.from({ length }, () => make((of['items'] ?? {}) as Schema, name, depth + 1));
  };
  return make(schema as Schema, '', 0);
}

function scalar(of: Schema, type: string, random: Random): unknown {
  switch (type) {
    case 'boolean':
      return random.below(2) === 0;
    case 'null':
      return null;
    case 'integer':
    case 'number': {
      const least = Number(of['minimum'] ?? of['exclusiveMinimum'] ?? -2);
      const most = Math.min(Number(of['maximum'] ?? of['exclusiveMaximum'] ?? least + 100), least + 1e6);
      const value = least + ((most - least) * random.below(1001)) / 1000;
      return type === 'integer' ? Math.round(value) : value;
    }
    case 'string':
      return pick(random, WORDS);
    default:
      return pick(random, [...WORDS, ...ODD]);
  }
}

/** The same with one thing changed, added or taken away. */
export function changed(body: unknown, random: Random): unknown {
  if (typeof body !== 'object' || body === null) return pick(random, ODD);
  const keys = Object.keys(body);
  const key = keys[random.below(Math.max(1, keys.length))];
  const copy = (Array.isArray(body) ? [...body] : { ...body }) as Record<string, unknown>;
  const how = random.below(5);
  if (key === undefined || how === 0) copy[`extra${keys.length}`] = pick(random, ODD);
  else if (how === 1 && !Array.isArray(body)) delete copy[key];
  else if (how === 2) copy[key] = pick(random, ODD);
  else copy[key] = changed(copy[key], random);
  return copy;
}

/** The smallest body, by taking members and elements away, for which the problem is still there. */
export async function smallest(body: unknown, isBad: (body: unknown) => Promise<boolean>): Promise<unknown> {
  for (const less of lesser(body)) if (await isBad(less)) return smallest(less, isBad);
  return body;
}

function* lesser(body: unknown): Generator {
  if (typeof body !== 'object' || body === null) return;
  for (const key of Object.keys(body)) {
    if (Array.isArray(body)) {
      yield body.filter((_, at) => at !== Number(key));
    } else {
      const { [key]: _, ...rest } = body as Record<string, unknown>;
      yield rest;
    }
  }
  for (const [key, value] of Object.entries(body)) {
    for (const less of lesser(value)) {
      if (Array.isArray(body)) yield body.map((each, at) => (at === Number(key) ? less : each));
      else yield { ...body, [key]: less };
    }
  }
}
