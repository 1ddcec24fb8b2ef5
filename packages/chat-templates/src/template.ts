/**
 * The model's chat template, a third party's program: size and nesting are bounded before parsing, steps and output
 * while rendering.
 */
import { runInNewContext } from 'node:vm';
import { type KnownTemplate, STAND_IN } from './form/known-templates.ts';
import { TEMPLATE_LIMITS } from './form/limits.ts';
import { formDefect } from './form/template-form.ts';
import { type Bounds, Budget } from './jinja/values/budget.ts';
import { OwnWords, toValue } from './jinja/values/convert.ts';
import type { Text } from './jinja/values/text.ts';
import { Evaluator } from './jinja/evaluator.ts';
import { functions } from './jinja/library/functions.ts';
import { Scope } from './jinja/scope.ts';
import { parseTemplate, type Statement } from './jinja/syntax.ts';
import { refusal } from './jinja/values/values.ts';

export interface ChatTemplate {
  readonly source: string;
  /** Texts that end an answer, in addition to the end tokens of the vocabulary; never shown. */
  readonly stops: readonly string[];
  /**
   * Texts in the variables count as a client's unless they are OwnWords. Throws `template_failed` with the template's
   * own reason if it refuses.
   */
  render(variables: Variables): Text;
}

/** Throws an Error with a plain reason if the template is unusable. */
export function openTemplate(source: string | undefined): ChatTemplate {
  if (source === undefined || source.trim() === '') return openKnownTemplate(STAND_IN);
  return openKnownTemplate({ source, stops: [] });
}

export function openKnownTemplate({ source, stops }: KnownTemplate): ChatTemplate {
  const defect = formDefect(source);
  if (defect !== undefined) throw new Error(`the chat template ${defect}`);
  const program = withinTime(() => new Program(source));
  return {
    source,
    stops,
    render: (variables) => program.render(variables, boundsFor(variables)),
  };
}

type Variables = Readonly<Record<string, unknown>>;

function boundsFor(variables: Variables): Bounds {
  const { steps, stepsPerCharacter, mostSteps, characters, charactersPerCharacter, elements } =
    TEMPLATE_LIMITS;
  const size = estimateSize(variables);
  return {
    steps: Math.min(mostSteps, steps + stepsPerCharacter * size),
    characters: characters + charactersPerCharacter * size,
    elements,
  };
}

/** Parsing cannot be counted and happens once per load: the timer of node:vm also stops code of this realm. */
function withinTime<T>(work: () => T): T {
  let result: { value: T } | undefined;
  const run = (): void => {
    result = { value: work() };
  };
  try {
    runInNewContext('run()', { run }, { timeout: TEMPLATE_LIMITS.parseMs });
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new Error('the chat template takes too long to parse', { cause: error });

    throw error;
  }
  if (result === undefined) throw new Error('the chat template could not be parsed');
  return result.value;
}

function estimateSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (value instanceof OwnWords) return value.string.length;
  let size = 2;
  for (const [key, item] of Object.entries(value)) size += key.length + estimateSize(item);
  return size;
}

/** A parsed template, rendered within bounds on work and on the size of every value. */
export class Program {
  readonly body: readonly Statement[];

  constructor(source: string) {
    this.body = parseTemplate(source);
  }

  render(variables: Readonly<Record<string, unknown>>, bounds: Bounds): Text {
    const budget = new Budget(bounds);
    const globals = new Scope();
    for (const [name, value] of functions(budget)) globals.set(name, value);
    for (const [name, value] of Object.entries(variables)) globals.set(name, toValue(value));
    try {
      return new Evaluator(budget).render(this.body, new Scope(globals));
    } catch (error) {
      // With endlessly nested values or macros, the stack ends before the counted steps.
      if (error instanceof RangeError) throw refusal('the chat template nests too deeply', error);
      throw error;
    }
  }
}
