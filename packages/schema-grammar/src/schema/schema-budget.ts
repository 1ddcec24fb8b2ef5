/**
 * Cost limit of all schemas of one request. A small schema can cause much work in a shared process, so the work is
 * bounded, not only the size of the result.
 */
import { GrammarError } from '../grammar-error.ts';
import type { SchemaPath } from './schema-walk.ts';

/** Limit of nested schemas, nested `allOf` parts, or chained references. */
export const MAX_DEPTH = 48;

const LIMITS = {
  /** Sub-schemas; each `allOf` part and each branch counts whenever it is folded or compiled. */
  nodes: 4_000,
  /** Sub-schemas that ajv compiles for validation; each takes up to 0.25 ms. */
  proofNodes: 4_000,
  steps: 1_000_000,
  /** Characters of the grammar. A larger one would slow every sampling step; sensible schemas are far smaller. */
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

  requireNodes(count: number): void {
    if (count > this.#left.nodes) this.spend('nodes', count);
  }

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
