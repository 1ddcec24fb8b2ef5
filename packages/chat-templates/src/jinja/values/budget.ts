/** Cost limits of a rendering. Work is counted, not timed, so that it ends at the same step on every machine. */
import { refusal } from './values.ts';

export interface Bounds {
  /** Evaluated nodes plus the size-dependent cost of lists and texts. */
  readonly steps: number;
  readonly characters: number;
  readonly elements: number;
}

const CHARACTERS_PER_STEP = 32;

export class Budget {
  readonly #bounds: Bounds;
  #steps = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#bounds.steps)
      throw refusal(`the chat template did not render within ${this.#bounds.steps} steps`);
  }

  /** Call before a text of this length is created or read. */
  text(characters: number): void {
    if (!(characters <= this.#bounds.characters))
      throw refusal(`the chat template wrote more than ${this.#bounds.characters} characters`);
    this.read(characters);
  }

  read(characters: number): void {
    this.spend(Math.floor(characters / CHARACTERS_PER_STEP));
  }

  list(elements: number): void {
    this.holds(elements);
    this.spend(elements);
  }

  /** Call before a list grows to this length. */
  holds(elements: number): void {
    if (!(elements <= this.#bounds.elements))
      throw refusal(`the chat template made a list of more than ${this.#bounds.elements} elements`);
  }
}
