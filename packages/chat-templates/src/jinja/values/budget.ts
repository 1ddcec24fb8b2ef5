/** Cost limits of a rendering. Work is counted and not timed, so that it ends at the same step on every machine. */
import { refusal } from './values.ts';

export interface Bounds {
  /** Evaluated nodes, and what lists and texts cost by their size. */
  readonly steps: number;
  /** Characters of any text, intermediate ones included. */
  readonly characters: number;
  /** Elements of any list. */
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

  /** Before a text of so many characters is made or read through. */
  text(characters: number): void {
    if (!(characters <= this.#bounds.characters))
      throw refusal(`the chat template wrote more than ${this.#bounds.characters} characters`);
    this.read(characters);
  }

  /** Before so many characters of a text that there is are read. */
  read(characters: number): void {
    this.spend(Math.floor(characters / CHARACTERS_PER_STEP));
  }

  /** Before a list of so many elements is made or walked through. */
  list(elements: number): void {
    this.holds(elements);
    this.spend(elements);
  }

  /** Before a list grows to so many elements. */
  holds(elements: number): void {
    if (!(elements <= this.#bounds.elements))
      throw refusal(`the chat template made a list of more than ${this.#bounds.elements} elements`);
  }
}
