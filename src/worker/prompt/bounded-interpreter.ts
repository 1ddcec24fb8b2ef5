/**
 * Runs a parsed chat template with bounds on time and on the size of every value. Each expression, statement and turn
 * of a loop passes through `evaluate`, so counting there stops whatever does not end, at a thousandth of the price
 * of a timer of node:vm, which starts a thread for every prompt.
 */
import { type Environment, Interpreter, type Template } from '@huggingface/jinja';

interface Evaluator {
  run(program: unknown): { readonly value: unknown };
  evaluate(statement: unknown, environment: unknown): { readonly value: unknown };
}

/** The library's declarations cannot be resolved under this project's module rules, so its shape is stated here. */
const LibraryInterpreter = Interpreter as new (environment: Environment) => Evaluator;

export interface RenderBounds {
  readonly ms: number;
  /** Characters of any string, intermediate ones included. */
  readonly characters: number;
  /** Elements of any list. */
  readonly elements: number;
}

/** The clock is read once in so many steps. */
const STEPS_PER_LOOK = 4;

export function renderWithin(template: Template, environment: Environment, bounds: RenderBounds): string {
  const result = new BoundedInterpreter(environment, bounds).run(template.parsed);
  return String(result.value);
}

class BoundedInterpreter extends LibraryInterpreter {
  readonly #bounds: RenderBounds;
  readonly #deadlineMs: number;
  #steps = 0;

  constructor(environment: Environment, bounds: RenderBounds) {
    super(environment);
    this.#bounds = bounds;
    this.#deadlineMs = performance.now() + bounds.ms;
  }

  override evaluate(statement: unknown, environment: unknown): { readonly value: unknown } {
    this.#steps += 1;
    if (this.#steps % STEPS_PER_LOOK === 0 && performance.now() > this.#deadlineMs) {
      throw new Error(`the chat template did not render within ${this.#bounds.ms} ms`);
    }
    const result = super.evaluate(statement, environment);
    const { characters, elements } = this.#bounds;
    const { value } = result;
    if (typeof value === 'string' && value.length > characters) {
      throw new Error(`the chat template wrote more than ${characters} characters`);
    }
    if (Array.isArray(value) && value.length > elements) {
      throw new Error(`the chat template made a list of more than ${elements} elements`);
    }
    return result;
  }
}
