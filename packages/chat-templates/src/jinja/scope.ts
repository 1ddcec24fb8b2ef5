/** Loops and macros open a scope; a condition does not. */
import type { Value } from './values/values.ts';

export class Scope {
  readonly #parent: Scope | null;
  readonly #names = new Map<string, Value>();

  constructor(parent: Scope | null = null) {
    this.#parent = parent;
  }

  get(name: string): Value | undefined {
    const own = this.#names.get(name);
    return own === undefined && this.#parent !== null ? this.#parent.get(name) : own;
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }
}
