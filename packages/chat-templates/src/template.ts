/**
 * The model's chat template. It comes from the model file and is a third party's program: size and nesting are bounded
 * before parsing, steps and output while rendering.
 */
import { runInNewContext } from 'node:vm';
import { type KnownTemplate, STAND_IN } from './form/known-templates.ts';
import { TEMPLATE_LIMITS } from './form/limits.ts';
import { formDefect } from './form/template-form.ts';
import { Program } from './jinja/program.ts';
import type { Bounds } from './jinja/values/budget.ts';
import { OwnWords } from './jinja/values/convert.ts';
import type { Text } from './jinja/values/text.ts';

export interface ChatTemplate {
  readonly source: string;
  /** Where an answer ends beside the end tokens of the vocabulary, as text that nobody is shown. */
  readonly stops: readonly string[];
  /**
   * Texts in the variables count as a client's, unless they are OwnWords.
   * Throws `template_failed` with the template's own reason when it refuses.
   */
  render(variables: Variables): Text;
}

/** Throws an Error with a plain reason when the template cannot be used at all. */
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

/** The longer the conversation, the more there is to do, up to a cap on the steps. */
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

/** Parsing has no hook to count in, and happens once per load: the timer of node:vm stops code of this realm too. */
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
