/**
 * Cost limit of all schemas of one request together. A small schema can cause much work, in a process that has other
 * things to do; hence a bound on the work, not only on the size of the result.
 */
import { GrammarError } from '../grammar-error.ts';
import type { SchemaPath } from './schema-walk.ts';

/** Schemas in each other, parts of an `allOf` in parts, or references that lead to references. */
export const MAX_DEPTH = 48;

const LIMITS = {
  /** Sub-schemas; each part of an `allOf` and each branch counts whenever it is folded or compiled. */
  nodes: 4_000,
  /** Sub-schemas that ajv compiles, to prove answers; one takes up to a quarter of a millisecond. */
  proofNodes: 4_000,
  /** Small work: a character read, a value compared, a state of a pattern. */
  steps: 1_000_000,
  /** Characters of the grammar. A larger one would slow every sampling step; no sensible schema comes near. */
  chars: 800_000,
};

export class SchemaBudget {
  readonly #left = { ...LIMITS };
  #isSpent = false;

  get isSpent(): boolean {
    return this.#isSpent;
  }

  spend(what: keyof typeof LIMITS, count = 1): void {
    this.#left[what] -= count;
    if (this.#left[what] >= 0) return;
    this.#isSpent = true;
    throw tooLarge();
  }

  /** Refuses at once what would be refused while it is worked on. */
  requireNodes(count: number): void {
    if (count > this.#left.nodes) this.spend('nodes', count);
  }

  /** The value as JSON, for comparisons. */
  jsonText(value: unknown): string {
    const text = JSON.stringify(value) ?? '';
    this.spend('steps', text.length);
    return text;
  }
}

const tooLarges = new WeakSet<object>();

export function isTooLarge(error: unknown): boolean {
  return typeof error === 'object' && error !== null && tooLarges.has(error);
}

export function tooLarge(path?: SchemaPath): GrammarError {
  const what = path === undefined ? 'The schema' : `The schema at ${path}`;
  const message = `${what} is too large or nested too deeply; make the schemas of the request smaller.`;
  const error = new GrammarError(path ?? null, message);
  tooLarges.add(error);
  return error;
}
