import { DATA_KEYWORDS } from './keywords.ts';
import { isObject, pointerTarget, type Schema } from './schema-walk.ts';

const ROOT = 'svc:/schema';

interface Index {
  readonly named: Map<string, Schema>;
  readonly bases: Map<Schema, string>;
  readonly parents: Map<Schema, Schema>;
  readonly dynamic: Map<string, Schema | null>;
}

export class SchemaRefs {
  readonly #root: unknown;
  #index: Index | null = null;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** Undefined if the reference leads outside, or nowhere. */
  target(at: Schema, reference: string): unknown {
    if (reference === '#') return this.#isNested(at) ? this.#named(at, reference) : this.#root;
    const direct = reference.startsWith('#/') && !this.#isNested(at);
    const target = direct ? pointerTarget(this.#root, reference) : this.#named(at, reference);
    return target ?? (reference.startsWith('#/') ? this.#nearest(at, reference) : undefined);
  }

  /** Undefined unless exactly one dynamic anchor has that name. */
  dynamicTarget(at: Schema, reference: string): unknown {
    const name = reference.split('#')[1] ?? '';
    const { dynamic } = this.#indexed();
    if (!dynamic.has(name)) return this.target(at, reference);
    return dynamic.get(name) ?? undefined;
  }

  /** Generators put `$defs` into the sub-schema that refers to them, but write the pointer as if it were the root. */
  #nearest(at: Schema, reference: string): unknown {
    const { parents } = this.#indexed();
    for (let outer: Schema | undefined = at; outer !== undefined; outer = parents.get(outer)) {
      const target = pointerTarget(outer, reference);
      if (target !== undefined) return target;
    }
    return undefined;
  }

  #isNested(at: Schema): boolean {
    const base = this.#indexed().bases.get(at);
    return base !== undefined && base !== this.#indexed().bases.get(this.#root as Schema);
  }

  #named(at: Schema, reference: string): unknown {
    const { named, bases } = this.#indexed();
    const url = resolved(reference, bases.get(at) ?? ROOT);
    if (url === null) return undefined;
    const known = named.get(url);
    if (known !== undefined) return known;
    const [resource = '', fragment = ''] = url.split('#');
    const schema = named.get(resource);
    if (schema === undefined || (fragment !== '' && !fragment.startsWith('/'))) return undefined;
    return fragment === '' ? schema : pointerTarget(schema, `#${fragment}`);
  }

  #indexed(): Index {
    this.#index ??= buildIndex(this.#root);
    return this.#index;
  }
}

function buildIndex(root: unknown): Index {
  const index: Index = { named: new Map(), bases: new Map(), parents: new Map(), dynamic: new Map() };
  const todo: [unknown, string, Schema | null][] = [[root, ROOT, null]];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const [value, outer, parent] = next;
    if (Array.isArray(value)) for (const item of value) todo.push([item, outer, parent]);
    if (!isObject(value) || index.bases.has(value)) continue;
    if (parent !== null) index.parents.set(value, parent);
    const base = enter(index, value, outer);
    for (const [key, member] of Object.entries(value))
      if (!DATA_KEYWORDS.has(key)) todo.push([member, base, value]);
  }
  if (isObject(root)) index.named.set(ROOT, root);
  return index;
}

function enter(index: Index, schema: Schema, outer: string): string {
  const id = schema['$id'] ?? schema['id'];
  const base = typeof id === 'string' ? (resolved(id, outer)?.replace(/#$/, '') ?? outer) : outer;
  if (base !== outer && !base.includes('#')) index.named.set(base, schema);
  index.bases.set(schema, base.includes('#') ? outer : base);
  const { $anchor, $dynamicAnchor } = schema;
  for (const anchor of [$anchor, $dynamicAnchor])
    if (typeof anchor === 'string') index.named.set(`${base}#${anchor}`, schema);
  if (typeof $dynamicAnchor === 'string')
    index.dynamic.set($dynamicAnchor, index.dynamic.has($dynamicAnchor) ? null : schema);
  return base.includes('#') ? outer : base;
}

function resolved(reference: string, base: string): string | null {
  try {
    return decodeURI(new URL(reference, base).href);
  } catch {
    return null;
  }
}
