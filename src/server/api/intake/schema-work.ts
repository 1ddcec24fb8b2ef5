import type { ValidateFunction } from 'ajv/dist/2020.js';
import { readableSchema } from '../../../../packages/schema-grammar/src/schema/readable-schema.ts';
import { compileSchema } from '../../../../packages/schema-grammar/src/schema-grammar.ts';
import { SchemaBudget, tooLarge } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import {
  isObject,
  malformed,
  toPointer,
  pointerSteps,
  type Schema,
  type SchemaPath,
} from '../../../../packages/schema-grammar/src/schema/schema-walk.ts';
import { parseSpelled } from '../../../lib/json/parse-spelled.ts';
import { noteSpelling } from '../../../lib/json/spelled-numbers.ts';
import { withExactValues } from '../../../../packages/schema-grammar/src/schema/schema-spellings.ts';
import { compileProof } from './proof.ts';
import type { LeftOut, SchemaToExamine } from './schema-messages.ts';

const MAX_KNOWN = 512;
const MAX_KNOWN_CHARS = 4 * 1024 * 1024;
const MAX_LEFT_OUT = 200;

export class KnownSchemas {
  readonly #validators = new Map<string, { readonly validate: ValidateFunction; readonly chars: number }>();
  #chars = 0;

  remember(digest: string, validate: ValidateFunction, chars: number): void {
    this.#forget(digest);
    this.#validators.set(digest, { validate, chars });
    this.#chars += chars;
    for (const [oldest] of this.#validators) {
      if (this.#validators.size <= MAX_KNOWN && this.#chars <= MAX_KNOWN_CHARS) break;
      if (oldest !== digest) this.#forget(oldest);
    }
  }

  check(digest: string, text: string | null, value: string): { readonly problem: string | null } | null {
    const known = this.#validators.get(digest)?.validate;
    if (known === undefined && text === null) return null;
    const validate = known ?? proofAgain(parseSpelled(text ?? 'true') as Schema);
    this.remember(digest, validate, this.#validators.get(digest)?.chars ?? text?.length ?? 0);
    return { problem: findProblem(validate, value) };
  }

  #forget(digest: string): void {
    const known = this.#validators.get(digest);
    if (known === undefined) return;
    this.#validators.delete(digest);
    this.#chars -= known.chars;
  }
}

/**
 * Refuses what cannot be enforced or checked. Returns the keywords that only the check enforces, and those that the
 * grammar narrows.
 */
export function examine(
  { digest, text, path, relax }: SchemaToExamine,
  budget: SchemaBudget,
  known: KnownSchemas,
): LeftOut[] {
  const schema: unknown = parseSpelled(text);
  if (!isObject(schema)) throw malformed(path, 'a schema is an object');
  const notes = new Notes(path);
  known.remember(digest, answerProof(schema, { path, relax, budget, notes }), text.length);
  return notes.all();
}

class Notes {
  readonly #root: SchemaPath;
  readonly #leftOut = new Map<string, LeftOut>();
  readonly #narrowed = new Map<string, LeftOut>();

  constructor(root: SchemaPath) {
    this.#root = root;
  }

  readonly leftOut = (place: SchemaPath, keyword: string): void =>
    set(this.#leftOut, { pointer: toPointer(place, this.#root), keyword });

  readonly narrowed = (place: SchemaPath, keyword: string): void =>
    set(this.#narrowed, { pointer: toPointer(place, this.#root), keyword, narrowed: true });

  readonly unusable = (place: SchemaPath): void => {
    const pointer = place.startsWith(this.#root) ? toPointer(place, this.#root) : '';
    const [keyword = 'type'] = pointerSteps(pointer).slice(-1);
    set(this.#leftOut, { pointer: pointer.slice(0, Math.max(0, pointer.lastIndexOf('/'))), keyword });
  };

  all(): LeftOut[] {
    return [...this.#leftOut.values(), ...this.#narrowed.values()];
  }
}

function set(found: Map<string, LeftOut>, note: LeftOut): void {
  if (found.size < MAX_LEFT_OUT) found.set(`${note.pointer} ${note.keyword}`, note);
}

interface Proving {
  readonly path: SchemaPath;
  readonly relax: boolean;
  readonly budget: SchemaBudget;
  readonly notes: Notes;
}

/** If the grammar allows any value because the schema is unusable, the check does as well. */
function answerProof(schema: Schema, { path, relax, budget, notes }: Proving): ValidateFunction {
  let isUsable = true;
  const unusable = (place: SchemaPath): void => {
    isUsable = false;
    notes.unusable(place);
  };
  const { leftOut, narrowed } = notes;
  compileSchema(schema, path, { budget, relax, leftOut, narrowed, unusable });
  const readable = relax ? readableSchema(schema, path, { budget, dropped: () => undefined }) : schema;
  if (!isUsable || !isObject(readable)) return compileProof(ANY_OBJECT, budget);
  try {
    return compileProof(withExactValues(readable) as Schema, budget);
  } catch (error) {
    if (budget.isSpent) throw tooLarge(path);
    throw malformed(path, `its answers could not be checked (${(error as Error).message})`);
  }
}

const ANY_OBJECT = { type: 'object' };

function proofAgain(schema: Schema): ValidateFunction {
  const path = 'schema';
  return answerProof(schema, { path, relax: true, budget: new SchemaBudget(), notes: new Notes(path) });
}

type DataValidationCxt = NonNullable<Parameters<ValidateFunction>[1]>;

const HALF_PAIR = /\\u[dD][89A-Fa-f]/;

function isUnicode(value: unknown): boolean {
  const todo = [value];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === 'string' && !next.isWellFormed()) return false;
    if (typeof next === 'object' && next !== null) todo.push(...Object.keys(next), ...Object.values(next));
  }
  return true;
}

/** A number at the root is spelled like the whole text. */
function rootContext(text: string, value: unknown): DataValidationCxt {
  const parentData = { value };
  if (typeof value === 'number') noteSpelling(parentData, 'value', text.trim());
  return {
    instancePath: '',
    parentData,
    parentDataProperty: 'value',
    rootData: value as object,
    dynamicAnchors: {},
  };
}

function findProblem(validate: ValidateFunction, text: string): string | null {
  let value: unknown;
  try {
    value = parseSpelled(text);
  } catch {
    return 'it is not valid JSON';
  }
  if (HALF_PAIR.test(text) && !isUnicode(value)) return 'it holds half a character';
  try {
    if (validate(value, rootContext(text, value))) return null;
  } catch (error) {
    return `it could not be checked (${(error as Error).message})`;
  }
  const [error] = validate.errors ?? [];
  return `${error?.instancePath || 'its root'} ${error?.message ?? 'does not fit the schema'}`;
}
