/**
 * A schema in the words of draft 2020-12, for ajv: tuples of draft 7 and OpenAPI's `nullable` are translated. That
 * moves members, so every target of a `$ref` becomes a separate definition, found in the schema as it was written.
 */
import type { SchemaBudget } from '../../lib/grammar/schema-budget.ts';
import { isEnforced } from '../../lib/grammar/schema-grammar.ts';
import { isObject, pointerTarget } from '../../lib/grammar/schema-walk.ts';

const DATA_KEYWORDS: ReadonlySet<string> = new Set(['enum', 'const', 'required', 'type']);
/** Here ajv nests the code of each entry in that of the one before, which takes V8 twice as long. */
const NESTED_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
/** A sub-schema with more of them costs as much as several. */
const KEYWORDS_OF_NODE = 4;

export function schema2020(root: unknown, budget: SchemaBudget): Record<string, unknown> {
  return new Translation(root, budget).run();
}

class Translation {
  readonly #root: unknown;
  readonly #budget: SchemaBudget;
  /** The pointers met so far, each at the index that names its definition. */
  readonly #pointers = new Map<string, number>([['#', 0]]);

  constructor(root: unknown, budget: SchemaBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  run(): Record<string, unknown> {
    const definitions: unknown[] = [];
    // Grows while it runs: a definition may refer to the next ones.
    for (const pointer of this.#pointers.keys())
      definitions.push(this.#schema(pointerTarget(this.#root, pointer)));
    return { $ref: '#/$defs/0', $defs: Object.fromEntries(definitions.entries()) };
  }

  #schema(schema: unknown): unknown {
    // Each one, `true` and `false` too: ajv writes code even for schemas that no value can meet.
    this.#budget.spend('proofNodes');
    if (!isObject(schema)) return schema;
    const keywords = Object.keys(schema).filter((key) => key !== 'nullable' && isEnforced(key));
    this.#budget.spend('proofNodes', Math.floor(keywords.length / KEYWORDS_OF_NODE));
    const entries = keywords.map((key) => [key, this.#keyword(key, schema[key])] as const);
    const { items, additionalItems, ...rest } = Object.fromEntries(entries);
    const tuple = Array.isArray(items);
    const translated = {
      ...rest,
      ...(tuple ? { prefixItems: items } : items === undefined ? {} : { items }),
      ...(tuple && additionalItems !== undefined ? { items: additionalItems } : {}),
    };
    return schema['nullable'] === true ? { anyOf: [translated, { type: 'null' }] } : translated;
  }

  #keyword(key: string, value: unknown): unknown {
    if (DATA_KEYWORDS.has(key)) return value;
    if (key === '$ref' && typeof value === 'string') return this.#definition(value);
    // The names in here are the client's, not keywords.
    if (key === 'properties' && isObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, this.#schema(schema)]));
    if (Array.isArray(value)) {
      if (NESTED_KEYWORDS.has(key)) this.#budget.spend('proofNodes', value.length);
      return value.map((item) => this.#schema(item));
    }
    return isObject(value) ? this.#schema(value) : value;
  }

  #definition(pointer: string): string {
    const index = this.#pointers.get(pointer) ?? this.#pointers.size;
    this.#pointers.set(pointer, index);
    return `#/$defs/${index}`;
  }
}
