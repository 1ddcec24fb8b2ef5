/** What is done with schemas off the event loop: whether a grammar can enforce them, and the check of finished answers. */
import type { ValidateFunction } from '#ajv/2020';
import { compileSchema } from '../../lib/grammar/schema-grammar.ts';
import { SchemaBudget, tooLarge } from '../../lib/grammar/schema/schema-budget.ts';
import { isObject, malformed, pointerOf, type Schema } from '../../lib/grammar/schema/schema-walk.ts';
import { compileProof } from './proof.ts';
import type { LeftOut, SchemaToExamine } from './schema-messages.ts';

/** Validators kept, and the characters of schemas that they stand for. */
const MAX_KNOWN = 512;
const MAX_KNOWN_CHARS = 4 * 1024 * 1024;
/** Keywords left out, and narrowed, that are told of one schema. */
const MAX_LEFT_OUT = 200;

/** Validators by the digest of their schema, the least recently used first. */
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

  /** Null: the schema is not known, and its text was not given. */
  check(digest: string, text: string | null, value: string): { readonly problem: string | null } | null {
    const known = this.#validators.get(digest)?.validate;
    if (known === undefined && text === null) return null;
    const validate = known ?? compileProof(JSON.parse(text ?? 'true') as Schema, new SchemaBudget());
    this.remember(digest, validate, this.#validators.get(digest)?.chars ?? text?.length ?? 0);
    return { problem: problemOf(validate, value) };
  }

  #forget(digest: string): void {
    const known = this.#validators.get(digest);
    if (known === undefined) return;
    this.#validators.delete(digest);
    this.#chars -= known.chars;
  }
}

/** Refuses what cannot be enforced or checked; returns what only the check will see, and what cannot be written. */
export function examine(
  { digest, text, path, relax }: SchemaToExamine,
  budget: SchemaBudget,
  known: KnownSchemas,
): LeftOut[] {
  const schema: unknown = JSON.parse(text);
  if (!isObject(schema)) throw malformed(path, 'a schema is an object');
  const leftOut = new Map<string, LeftOut>();
  const narrowed = new Map<string, LeftOut>();
  const note = (
    found: Map<string, LeftOut>,
    place: string,
    keyword: string,
    how: { narrowed?: true },
  ): void => {
    const pointer = pointerOf(place, path);
    if (found.size < MAX_LEFT_OUT) found.set(`${pointer} ${keyword}`, { pointer, keyword, ...how });
  };
  compileSchema(schema, path, {
    budget,
    relax,
    leftOut: (place, keyword) => note(leftOut, place, keyword, {}),
    narrowed: (place, keyword) => note(narrowed, place, keyword, { narrowed: true }),
  });
  try {
    known.remember(digest, compileProof(schema, budget), text.length);
  } catch (error) {
    if (budget.isSpent) throw tooLarge(path);
    throw malformed(path, `its answers could not be checked (${(error as Error).message})`);
  }
  return [...leftOut.values(), ...narrowed.values()];
}

/** The escape of a surrogate. */
const HALF_PAIR = /\\u[dD][89A-Fa-f]/;

function isUnicode(value: unknown): boolean {
  const todo = [value];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === 'string' && !next.isWellFormed()) return false;
    if (typeof next === 'object' && next !== null) todo.push(...Object.keys(next), ...Object.values(next));
  }
  return true;
}

function problemOf(validate: ValidateFunction, text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not valid JSON';
  }
  if (HALF_PAIR.test(text) && !isUnicode(value)) return 'it holds half a character';
  try {
    if (validate(value)) return null;
  } catch (error) {
    return `it could not be checked (${(error as Error).message})`;
  }
  const [error] = validate.errors ?? [];
  return `${error?.instancePath || 'its root'} ${error?.message ?? 'does not fit the schema'}`;
}
