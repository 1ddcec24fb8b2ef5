/**
 * Translates older drafts and OpenAPI's `nullable` to draft 2020-12 for ajv. That moves members, so every target of a
 * reference becomes a separate definition, found in the original schema.
 */
import { DATA_KEYWORDS, isAssertion } from '../../../../packages/schema-grammar/src/schema/keywords.ts';
import type { SchemaBudget } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { SchemaRefs } from '../../../../packages/schema-grammar/src/schema/schema-refs.ts';
import { modernised } from '../../../../packages/schema-grammar/src/schema/schema-rewrite.ts';
import { isObject, type Schema } from '../../../../packages/schema-grammar/src/schema/schema-walk.ts';
import { SpelledNumber } from '../../../lib/json/spelled-numbers.ts';
import { INTEGER_FORMAT, isIntegerFormat, WHOLE } from './exact-keywords.ts';

/** ajv nests the code of each entry in that of the one before, which takes V8 twice as long. */
const NESTED_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
/** Cost of such an entry in sub-schemas, in addition to itself. */
const BRANCH_NODES = 2;
const NAMED_KEYWORDS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** A sub-schema with more keywords costs as much as several. */
const KEYWORDS_OF_NODE = 4;

export function schema2020(root: unknown, budget: SchemaBudget): Record<string, unknown> {
  return new Translation(root, budget).run();
}

class Translation {
  readonly #refs: SchemaRefs;
  readonly #budget: SchemaBudget;
  readonly #targets: Map<unknown, number>;

  constructor(root: unknown, budget: SchemaBudget) {
    this.#refs = new SchemaRefs(root);
    this.#budget = budget;
    this.#targets = new Map([[root, 0]]);
  }

  run(): Record<string, unknown> {
    const definitions: unknown[] = [];
    // Grows during the loop: a definition may refer to further ones.
    for (const target of this.#targets.keys()) definitions.push(this.#schema(target));
    return { $ref: '#/$defs/0', $defs: Object.fromEntries(definitions.entries()) };
  }

  #schema(given: unknown): unknown {
    // `true` and `false` cost as well: ajv writes code even for schemas that no value can meet.
    this.#budget.spend('proofNodes');
    if (!isObject(given)) return given;
    const references = this.#references(given);
    const schema = withoutProto(modernised(given));
    const keywords = Object.keys(schema).filter((key) => key !== 'nullable' && isAssertion(key));
    this.#budget.spend('proofNodes', Math.floor(keywords.length / KEYWORDS_OF_NODE));
    const isReplaced = (key: string): boolean => key === 'format' && isIntegerFormat(schema[key]);
    const plain = keywords.filter((key) => !REFERENCES.has(key) && !isReplaced(key));
    const translated = Object.fromEntries([
      ...plain.map((key) => [key, this.#keyword(key, schema[key])] as const),
      ...references,
      ...exactKeywords(schema),
    ]);
    return schema['nullable'] === true ? { anyOf: [translated, { type: 'null' }] } : translated;
  }

  /** A dangling reference requires nothing here; where that is not allowed, it was refused before. */
  #references(schema: Schema): (readonly [string, unknown])[] {
    const targets = [...REFERENCES].flatMap((keyword) => {
      const reference = schema[keyword];
      if (typeof reference !== 'string') return [];
      const isDynamic = keyword === '$dynamicRef';
      const target = isDynamic
        ? this.#refs.dynamicTarget(schema, reference)
        : this.#refs.target(schema, reference);
      return target === undefined ? [] : [this.#definition(target)];
    });
    return targets.map((target) => ['$ref', target] as const);
  }

  #keyword(key: string, value: unknown): unknown {
    if (DATA_KEYWORDS.has(key) || value instanceof SpelledNumber) return value;
    if (NAMED_KEYWORDS.has(key) && isObject(value)) return this.#named(value);
    if (Array.isArray(value)) {
      if (NESTED_KEYWORDS.has(key)) this.#budget.spend('proofNodes', BRANCH_NODES * value.length);
      return value.map((item) => this.#schema(item));
    }
    return isObject(value) ? this.#schema(value) : value;
  }

  #named(schemas: Schema): Schema {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.#schema(schema)]));
  }

  #definition(target: unknown): string {
    const index = this.#targets.get(target) ?? this.#targets.size;
    this.#targets.set(target, index);
    return `#/$defs/${index}`;
  }
}

/** ajv ignores a property named `__proto__`, but not a pattern for it. */
function withoutProto(schema: Schema): Schema {
  const { properties, patternProperties = {} } = schema;
  if (!isObject(properties) || !Object.hasOwn(properties, '__proto__')) return schema;
  const others = Object.entries(properties).filter(([name]) => name !== '__proto__');
  const pattern = { '^__proto__$': properties['__proto__'] };
  return {
    ...schema,
    properties: Object.fromEntries(others),
    patternProperties: { ...(isObject(patternProperties) ? patternProperties : {}), ...pattern },
  };
}

function exactKeywords({ type, format }: Schema): (readonly [string, unknown])[] {
  const types = [type].flat();
  const isWhole = types.includes('integer') && !types.includes('number');
  return [
    ...(isWhole ? [[WHOLE, true] as const] : []),
    ...(isIntegerFormat(format) ? [[INTEGER_FORMAT, format] as const] : []),
  ];
}

const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
