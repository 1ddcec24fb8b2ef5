/**
 * The model's chat template. It comes from the model file and is a third party's program: size and nesting are bounded
 * before parsing, steps and output while rendering.
 */
import { runInNewContext } from 'node:vm';
import { Environment, Template } from '@huggingface/jinja';
import { RANGE_DEFECT, rangeLength, TEMPLATE_LIMITS } from '../../lib/chat-template/limits.ts';
import { formDefect } from '../../lib/chat-template/template-form.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { BoundedProgram, type RenderBounds } from './bounded-interpreter.ts';

const CHATML = [
  "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}",
  "{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
].join('');

export interface ChatTemplate {
  readonly from: 'gguf' | 'chatml';
  readonly source: string;
  /** Throws `template_failed` with the template's own reason when it refuses. */
  render(variables: Variables): string;
}

/** Throws an Error with a plain reason when the template cannot be used at all. */
export function openTemplate(source: string | undefined): ChatTemplate {
  if (source === undefined || source.trim() === '') return compile(CHATML, 'chatml');
  return compile(source, 'gguf');
}

function compile(source: string, from: ChatTemplate['from']): ChatTemplate {
  const defect = formDefect(source);
  if (defect !== undefined) throw new Error(`the chat template ${defect}`);
  const program = withinTime(() => new BoundedProgram(new Template(source)));
  return {
    from,
    source,
    render: (variables) => renderBounded(program, variables),
  };
}

type Variables = Readonly<Record<string, unknown>>;

function renderBounded(program: BoundedProgram, variables: Variables): string {
  // As the library's own `render`, but with counted steps and a bounded `range`.
  const environment = new Environment();
  for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
  try {
    return program.render(environment, boundsFor(variables));
  } catch (error) {
    throw fail('template_failed', { reason: reasonOf(error) }, error);
  }
}

/** The longer the conversation, the more there is to do, up to a cap on the steps. */
function boundsFor(variables: Variables): RenderBounds {
  const { steps, stepsPerCharacter, mostSteps, characters, charactersPerCharacter, elements } =
    TEMPLATE_LIMITS;
  const size = sizeOf(variables);
  return {
    steps: Math.min(mostSteps, steps + stepsPerCharacter * size),
    characters: characters + charactersPerCharacter * size,
    elements,
  };
}

const GLOBALS: Readonly<Record<string, unknown>> = {
  false: false,
  true: true,
  none: null,
  False: false,
  True: true,
  None: null,
  range: boundedRange,
  raise_exception: (message: unknown) => {
    throw new Error(String(message));
  },
};

function boundedRange(first: number, second?: number, step?: number): number[] {
  const length = rangeLength(first, second, step);
  if (!(length <= TEMPLATE_LIMITS.range)) throw new Error(`the chat template ${RANGE_DEFECT}`);
  const from = second === undefined ? 0 : first;
  return Array.from({ length }, (_, i) => from + i * (step ?? 1));
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

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  for (const [key, item] of Object.entries(value)) size += key.length + sizeOf(item);
  return size;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
