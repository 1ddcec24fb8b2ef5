/**
 * Runs a parsed chat template with bounds on its work and on the size of every value. The work is counted and not
 * timed, so the same template with the same input always stops at the same step, however busy the machine is. A timer
 * of node:vm would cost a thread for every prompt besides.
 */
import { type Environment, Interpreter, type Template } from '@huggingface/jinja';
import { elementPrices, priceOfText } from './step-prices.ts';

interface Value {
  readonly value: unknown;
}

interface Evaluator {
  run(program: unknown): Value;
  evaluate(statement: unknown, environment: unknown): Value;
}

/** The library's declarations cannot be resolved under this project's module rules, so its shape is stated here. */
const LibraryInterpreter = Interpreter as new (environment: Environment) => Evaluator;

export interface RenderBounds {
  /** Evaluated nodes, and what lists and texts cost by their size. */
  readonly steps: number;
  /** Characters of any string, intermediate ones included. */
  readonly characters: number;
  /** Elements of any list. */
  readonly elements: number;
}

export class BoundedProgram {
  readonly #parsed: object;
  readonly #prices: ReturnType<typeof elementPrices>;

  constructor(template: Template) {
    this.#parsed = template.parsed;
    this.#prices = elementPrices(this.#parsed);
  }

  render(environment: Environment, bounds: RenderBounds): string {
    return String(new BoundedInterpreter(environment, bounds, this.#prices).run(this.#parsed).value);
  }
}

class BoundedInterpreter extends LibraryInterpreter {
  readonly #bounds: RenderBounds;
  readonly #prices: ReturnType<typeof elementPrices>;
  #steps = 0;

  constructor(environment: Environment, bounds: RenderBounds, prices: ReturnType<typeof elementPrices>) {
    super(environment);
    this.#bounds = bounds;
    this.#prices = prices;
  }

  override evaluate(statement: unknown, environment: unknown): Value {
    this.#spend(1);
    const result = super.evaluate(statement, environment);
    const { value } = result;
    if (typeof value === 'string') this.#spend(this.#priceOfText(value));
    else if (Array.isArray(value)) this.#spend(this.#priceOfList(statement, value.length));
    else if (value instanceof Map) this.#spend(this.#priceOfList(statement, value.size));
    return result;
  }

  #priceOfText(text: string): number {
    const { characters } = this.#bounds;
    if (text.length > characters)
      throw new Error(`the chat template wrote more than ${characters} characters`);

    return priceOfText(text);
  }

  #priceOfList(statement: unknown, length: number): number {
    const { elements } = this.#bounds;
    if (length > elements) throw new Error(`the chat template made a list of more than ${elements} elements`);

    return length * (this.#prices.get(statement as object) ?? 0);
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#bounds.steps)
      throw new Error(`the chat template did not render within ${this.#bounds.steps} steps`);
  }
}
