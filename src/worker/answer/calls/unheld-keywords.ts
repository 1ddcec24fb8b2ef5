/** Keywords of tools that a grammar outside JSON does not enforce; the finished call is checked against them. */
import type { UnheldKeyword } from '../../../contract/job-event.ts';
import { MOST_UNHELD } from '../../../contract/limits.ts';
import { isAssertion } from '../../../../packages/schema-grammar/src/schema/keywords.ts';
import {
  isSchema,
  resolvePointer,
} from '../../../../packages/chat-templates/src/tool-format/values/schema-types.ts';

type Schema = Readonly<Record<string, unknown>>;

/** `scalars`: types and listed values are enforced, also in lists. `anything`: the grammar accepts any value. */
type Freedom = 'scalars' | 'anything';

const SHAPES: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'items', 'nullable']);
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const;
const LEADS: ReadonlySet<string> = new Set(['$ref', ...LISTS]);
const ROOT_SHAPES: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'additionalProperties']);

export class UnheldKeywords {
  readonly #found = new Map<string, UnheldKeyword>();

  get list(): readonly UnheldKeyword[] {
    return [...this.#found.values()];
  }

  of(tool: string, parameters: Schema): UnheldOfTool {
    return new UnheldOfTool(parameters, (pointer, keyword) => {
      const key = JSON.stringify([tool, pointer, keyword]);
      if (this.#found.size < MOST_UNHELD || this.#found.has(key))
        this.#found.set(key, { tool, pointer, keyword });
    });
  }
}

export class UnheldOfTool {
  readonly #root: Schema;
  readonly #name: (pointer: string, keyword: string) => void;
  readonly #seen = new Set<string>();

  constructor(root: Schema, name: (pointer: string, keyword: string) => void) {
    this.#root = root;
    this.#name = name;
  }

  root(isOpen: boolean): void {
    const { properties = {}, required, additionalProperties } = this.#root;
    for (const keyword of Object.keys(this.#root))
      if (isAssertion(keyword) && !ROOT_SHAPES.has(keyword)) this.#name('', keyword);
    const declared = Object.keys(properties as object);
    if (Array.isArray(required) && required.some((name) => !declared.includes(String(name))))
      this.#name('', 'required');
    if (isOpen && isSchema(additionalProperties)) this.#name('', 'additionalProperties');
  }

  of(name: string | null, freedom: Freedom): void {
    const { properties } = this.#root;
    if (name === null || !isSchema(properties)) return;
    this.#walk(properties[name], `/properties${step(name)}`, freedom);
  }

  #walk(schema: unknown, pointer: string, freedom: Freedom): void {
    const visit = `${freedom} ${pointer}`;
    if (!isSchema(schema) || this.#seen.has(visit)) return;
    this.#seen.add(visit);
    for (const keyword of Object.keys(schema))
      if (isAssertion(keyword) && !isHeld(schema, keyword, freedom)) this.#name(pointer, keyword);
    const { $ref, items } = schema;
    if (typeof $ref === 'string') this.#walk(resolvePointer($ref, this.#root), $ref.slice(1), freedom);
    for (const keyword of LISTS) {
      const branches = schema[keyword];
      if (!Array.isArray(branches)) continue;
      for (const [index, branch] of branches.entries())
        this.#walk(branch, `${pointer}/${keyword}/${index}`, freedom);
    }
    if (freedom === 'scalars') this.#walk(items, `${pointer}/items`, freedom);
  }
}

function isHeld(schema: Schema, keyword: string, freedom: Freedom): boolean {
  if (LEADS.has(keyword)) return true;
  if (freedom === 'anything') return keyword === 'nullable';
  // The grammar writes integers as any number.
  if (keyword === 'type') return ![schema['type']].flat().includes('integer');
  return SHAPES.has(keyword);
}

const step = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
