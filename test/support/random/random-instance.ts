/**
 * Random values for a schema, most of them valid, in the order in which a grammar writes members. They hold to what a
 * grammar names as narrower: no undeclared members where a schema says nothing of them, no items behind a silent tuple.
 */
import fc from 'fast-check';
import { pointerTarget } from '../../../packages/schema-grammar/src/schema/schema-walk.ts';
import { isObject, type Schema } from '../../../packages/schema-grammar/src/schema/schema-walk.ts';
import type { Random } from '../../../packages/schema-grammar/test/grammar-walk.ts';

/** Texts of each format, as programs and people write them. */
export const FORMAT_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  uri: [
    'https://ex.org/api#auth',
    'http://EX.org/a%20b/~me/(x)',
    'https://user:pw@ex.org:8443/?q=1&r=%2F#x',
    'http://[::1]:80/',
    'http://[2001:db8::7]/',
    'ftp://ftp.ex.org/a.txt',
    'file:///etc/hosts',
    'mailto:Ann@Ex.org',
    'urn:isbn:0451450523',
    'data:text/plain;base64,SGk=',
    's3://bucket/key',
    'https://ex.org/a;b=c,d/$1!*',
  ],
  'uri-reference': ['../a/b?c#d', '#x', '', '//ex.org/a', '/a:b', 'https://ex.org/"a"'],
  'uri-template': ['https://ex.org/{id}/{?q,r*}', '/{var:3}', 'a b'.replace(' ', '%20')],
  iri: ['https://exämple.org/ä#ö'],
  'iri-reference': ['/ä?ö', 'ß'],
  url: ['https://localhost:8740/v1', 'https://ex.org/#a'],
  email: ['Ann@EX.ORG', "o'neil@ex.org", 'a.b+c@sub.ex.co.uk', '{x}@y.z', 'a@b-c.museum'],
  'idn-email': ['änn@exämple.org', "o'neil@ex.org"],
  hostname: ['EX.org', 'localhost', 'a-b.c', 'xn--bcher-kva.ch', 'ex.org.', `${'a'.repeat(63)}.b`],
  'idn-hostname': ['bücher.ch', 'EX.org'],
  ipv4: ['0.0.0.0', '255.255.255.255', '10.1.20.199'],
  ipv6: [
    '::1',
    '::',
    '2001:DB8::1',
    '::ffff:1.2.3.4',
    '1:2:3:4:5:6:7:8',
    '1::8',
    'fe80::1:2:3:4',
    '1:2:3:4:5:6:1.2.3.4',
  ],
  uuid: [
    'F47AC10B-58CC-4372-A567-0E02B2C3D479',
    '00000000-0000-0000-0000-000000000000',
    'urn:uuid:f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  uuid4: ['F47AC10B-58CC-4372-A567-0E02B2C3D479'],
  uuid7: ['01890a5d-ac96-774b-bcce-b302099a8057'],
  date: ['2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31', '2023-02-28'],
  time: ['10:00:00Z', '23:59:60Z', '10:00:00.123456789+05:30', '10:00:00z', '01:59:60.5+0200', '10:00:00-08'],
  'date-time': [
    '2024-02-29T10:00:00Z',
    '2024-01-01t10:00:00z',
    '2024-01-01 10:00:00+0530',
    '2016-12-31T23:59:60Z',
    '2016-12-31T15:59:60-08:00',
    '1985-04-12T23:20:50.520000001Z',
  ],
  'iso-time': ['10:00:00', '23:59:60'],
  'iso-date-time': ['2024-01-01T10:00:00'],
  duration: ['P1Y2M3DT4H5M6S', 'PT0.5S', 'P3W', 'PT36H', 'P1Y3D', 'PT1H6S', 'P123456D', 'P1DT12H30M5.25S'],
  'json-pointer': ['', '/a~1b/m~0n', '/ä/ ', '/0'],
  'json-pointer-uri-fragment': ['#/a%20b'],
  'relative-json-pointer': ['0', '1/foo', '2#', '120/a~1'],
  regex: ['^[a-z]+(?=x)$', '\\d{2,}', ''],
  byte: ['SGVsbG8=', ''],
  base64: ['SGVsbG8=', '+/+/'],
  base64url: ['SGk', 'SGVsbG8', '_-_-'],
  ipvanyaddress: ['::1', '10.0.0.1'],
  ipvanyinterface: ['10.0.0.1/24', 'fe80::1/64'],
  ipvanynetwork: ['10.0.0.0/8', '2001:db8::/32', '10.1.2.3'],
  ipv4network: ['10.0.0.0/8'],
  ipv4interface: ['10.0.0.1/24'],
  ipv6network: ['2001:db8::/32'],
  ipv6interface: ['fe80::1/64'],
};

const DEPTH = 5;

export class RandomInstances {
  readonly #root: unknown;
  readonly #random: Random;

  constructor(root: unknown, random: Random) {
    this.#root = root;
    this.#random = random;
  }

  next(): unknown {
    return this.#of(this.#root, DEPTH);
  }

  #of(given: unknown, depth: number): unknown {
    if (!isObject(given)) return this.#any(depth);
    const schema = this.#merged(given);
    const { enum: values, const: constant } = schema;
    if ('const' in schema) return constant;
    if (Array.isArray(values)) return this.#pick(values);
    const { type } = schema;
    const types = [type].flat().filter((name) => typeof name === 'string');
    return this.#typed(types.length > 0 ? String(this.#pick(types)) : inferred(schema), schema, depth);
  }

  /** References followed, one branch of each choice, all parts. */
  #merged(schema: Schema, hops = 0): Schema {
    let result: Record<string, unknown> = { ...schema };
    const parts: unknown[] = [];
    if (typeof result['$ref'] === 'string') parts.push(pointerTarget(this.#root, result['$ref']));
    for (const key of ['anyOf', 'oneOf'])
      if (Array.isArray(result[key])) parts.push(this.#pick(result[key] as unknown[]));
    if (Array.isArray(result['allOf'])) parts.push(...(result['allOf'] as unknown[]));
    if (result['if'] !== undefined) parts.push(this.#pick([result['then'] ?? {}, result['else'] ?? {}]));
    for (const key of ['$ref', 'anyOf', 'oneOf', 'allOf', 'if', 'then', 'else']) delete result[key];
    if (hops > 8) return result;
    for (const part of parts) {
      if (!isObject(part)) continue;
      const { properties, required, ...others } = this.#merged(part, hops + 1);
      result = { ...others, ...result };
      if (isObject(properties)) result['properties'] = { ...(result['properties'] as object), ...properties };
      const before = result['required'] as unknown[] | undefined;
      if (Array.isArray(required)) result['required'] = [...(before ?? []), ...(required as unknown[])];
    }
    return result;
  }

  #typed(type: string, schema: Schema, depth: number): unknown {
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        return this.#string(schema);
      case 'integer':
        return this.#number(schema, true);
      case 'number':
        return this.#number(schema, false);
      case 'boolean':
        return this.#random() < 0.5;
      case 'null':
        return null;
      default:
        return this.#any(depth);
    }
  }

  #object(schema: Schema, depth: number): unknown {
    const { properties = {}, required = [], additionalProperties, patternProperties, propertyNames } = schema;
    const needed: readonly unknown[] = Array.isArray(required) ? required : [];
    const value: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      const isWanted = needed.includes(name) || (depth > 0 && this.#random() < 0.6);
      if (isWanted) value[name] = this.#of(property, depth - 1);
    }
    for (const name of needed) if (!Object.hasOwn(value, String(name))) value[String(name)] = this.#any(0);
    const declares = schema['properties'] !== undefined || patternProperties !== undefined;
    const isOpen = additionalProperties !== undefined ? additionalProperties !== false : !declares;
    const extras = depth > 0 ? Math.floor(this.#random() * 3) : 0;
    for (let index = 0; index < extras; index += 1) {
      const pattern = isObject(patternProperties) ? this.#pick(Object.keys(patternProperties)) : undefined;
      if (pattern !== undefined)
        value[this.#matching(pattern)] = this.#of((patternProperties as Schema)[pattern], depth - 1);
      if (!isOpen) continue;
      const name = propertyNames === undefined ? this.#text() : String(this.#of(propertyNames, 0));
      if (!Object.hasOwn(value, name)) value[name] = this.#of(additionalProperties ?? true, depth - 1);
    }
    return value;
  }

  #array(schema: Schema, depth: number): unknown {
    const { prefixItems = [], items, contains, minItems = 0, maxItems } = schema;
    const tuple: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    const isSilent = tuple.length > 0 && items === undefined;
    const most = Math.min(Number(maxItems ?? 9), isSilent ? tuple.length : 9);
    const length = Math.max(Number(minItems), Math.min(most, Math.floor(this.#random() * 4) + tuple.length));
    const value = Array.from({ length: depth > 0 ? length : Number(minItems) }, (_, index) =>
      this.#of(tuple[index] ?? items ?? true, depth - 1),
    );
    if (contains === undefined) return value;
    const at = Math.floor(this.#random() * (value.length + 1));
    return [...value.slice(0, at), this.#of(contains, depth - 1), ...value.slice(at)];
  }

  #string({ pattern, format, minLength = 0, maxLength }: Schema): unknown {
    if (typeof pattern === 'string') return this.#matching(pattern);
    const examples = typeof format === 'string' ? FORMAT_EXAMPLES[format] : undefined;
    if (examples !== undefined) return this.#pick(examples);
    const least = Number(minLength);
    const most = Math.min(Number(maxLength ?? least + 12), least + 12);
    return this.#sample(fc.string({ unit: 'binary', minLength: 0, maxLength: most }))
      .padEnd(least, 'ä')
      .toWellFormed();
  }

  #number(schema: Schema, isWhole: boolean): number {
    const named = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((key) => schema[key]);
    const bounds = named.filter((bound) => typeof bound === 'number');
    const step = typeof schema['multipleOf'] === 'number' ? schema['multipleOf'] : isWhole ? 1 : 0;
    const around = bounds.length > 0 && this.#random() < 0.8 ? this.#pick(bounds) : 0;
    const offset = this.#sample(
      fc.oneof(
        fc.constantFrom(0, 1, -1, 0.5, -0.001, 1e-7, 25, 1e17, -1e21, 2 ** 63, Number('1234567890123456789')),
        fc.maxSafeInteger(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.double({ noNaN: true, min: -1, max: 1 }),
        fc.integer({ min: -1000, max: 1000 }),
      ),
    );
    const value = around + offset;
    if (step === 0) return value;
    const steps = Math.round(value / step);
    return (step < 1 ? Number((steps * step).toFixed(String(step).length)) : steps * step) + 0;
  }

  #matching(pattern: string): string {
    try {
      return this.#sample(fc.stringMatching(new RegExp(pattern, 'u'), { size: '-1' })).toWellFormed();
    } catch {
      return '';
    }
  }

  #any(depth: number): unknown {
    return this.#sample(fc.jsonValue({ maxDepth: Math.max(0, depth + 4), stringUnit: 'binary' }));
  }

  #text(): string {
    return this.#sample(fc.string({ unit: 'binary', maxLength: 8 }));
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #sample<T>(arbitrary: fc.Arbitrary<T>): T {
    return fc.sample(arbitrary, { seed: Math.floor(this.#random() * 2 ** 31), numRuns: 1 })[0] as T;
  }
}

function inferred(schema: Schema): string {
  if (['properties', 'required', 'additionalProperties', 'patternProperties'].some((key) => key in schema))
    return 'object';
  if (['items', 'prefixItems', 'minItems', 'contains'].some((key) => key in schema)) return 'array';
  if (['pattern', 'format', 'minLength', 'maxLength'].some((key) => key in schema)) return 'string';
  return ['minimum', 'maximum', 'multipleOf'].some((key) => key in schema) ? 'number' : '';
}

/** JSON as the grammar lays it out: whole numbers in full. */
export function canonical(value: unknown): string {
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e21)
    return String(BigInt(value));
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  );
  return `{${members.join(',')}}`;
}
