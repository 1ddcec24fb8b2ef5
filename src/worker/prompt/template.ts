/**
 * The model's chat template. Templates come from model files, so they are untrusted code for a small interpreter:
 * size and nesting are bounded before parsing, time and output while rendering.
 */
import { runInNewContext } from 'node:vm';
import { Environment, Template } from '@huggingface/jinja';
import { fail } from '../../lib/errors/svc-error.ts';
import { renderWithin } from './bounded-interpreter.ts';

export const TEMPLATE_LIMITS = {
  sourceBytes: 256 * 1024,
  nesting: 128,
  renderMs: 250,
  /** Numbers of one `range()`. */
  range: 10_000,
  /** Elements of any list that a template makes. */
  elements: 1_000_000,
  /** A rendering may be this many times the size of what went in, and a constant. */
  growth: 4,
  constantBytes: 256 * 1024,
} as const;

const CHATML = [
  "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}",
  "{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
].join('');

export interface ChatTemplate {
  readonly from: 'gguf' | 'chatml';
  readonly source: string;
  /** Throws `template_failed` with the template's own reason when it refuses. */
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** Throws an Error with a plain reason when the template cannot be used at all. */
export function openTemplate(source: string | undefined): ChatTemplate {
  if (source === undefined || source.trim() === '') return compile(CHATML, 'chatml');
  return compile(source, 'gguf');
}

function compile(source: string, from: ChatTemplate['from']): ChatTemplate {
  if (Buffer.byteLength(source) > TEMPLATE_LIMITS.sourceBytes) {
    throw new Error(`the chat template is larger than ${TEMPLATE_LIMITS.sourceBytes} bytes`);
  }
  if (nestingOf(source) > TEMPLATE_LIMITS.nesting) {
    throw new Error(`the chat template nests deeper than ${TEMPLATE_LIMITS.nesting} levels`);
  }
  const template = withinTime(() => new Template(source));
  return {
    from,
    source,
    render: (variables) => renderBounded(template, variables),
  };
}

function renderBounded(template: Template, variables: Readonly<Record<string, unknown>>): string {
  const { renderMs, constantBytes, growth, elements } = TEMPLATE_LIMITS;
  const characters = constantBytes + growth * sizeOf(variables);
  // As the library's own `render`, but with a clock of ours and a bounded `range`.
  const environment = new Environment();
  for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
  try {
    return renderWithin(template, environment, { ms: renderMs, characters, elements });
  } catch (error) {
    throw fail('template_failed', { reason: reasonOf(error) }, error);
  }
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

function boundedRange(first: number, second?: number, step = 1): number[] {
  const [from, to] = second === undefined ? [0, first] : [first, second];
  const length = step === 0 ? Number.NaN : Math.ceil((to - from) / step);
  if (!(length <= TEMPLATE_LIMITS.range))
    throw new Error(`range() of more than ${TEMPLATE_LIMITS.range} numbers`);
  return Array.from({ length: Math.max(0, length) }, (_, i) => from + i * step);
}

/** Parsing has no hook to count in, and happens once per load: the timer of node:vm stops code of this realm too. */
function withinTime<T>(work: () => T): T {
  let result: { value: T } | undefined;
  const run = (): void => {
    result = { value: work() };
  };
  try {
    runInNewContext('run()', { run }, { timeout: TEMPLATE_LIMITS.renderMs });
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new Error('the chat template takes too long to parse', { cause: error });
    }
    throw error;
  }
  if (result === undefined) throw new Error('the chat template could not be parsed');
  return result.value;
}

/** Depth of brackets and of block tags; an over-count on brackets inside strings only makes the bound stricter. */
function nestingOf(source: string): number {
  let brackets = 0;
  let blocks = 0;
  let deepest = 0;
  for (const match of source.matchAll(/[([{]|[)\]}]|%-?\s*(end)?(?:if|for|macro|call|filter)\b/g)) {
    const token = match[0];
    if (token.startsWith('%')) blocks += match[1] === undefined ? 1 : -1;
    else brackets += '([{'.includes(token) ? 1 : -1;
    deepest = Math.max(deepest, brackets, blocks);
  }
  return deepest;
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
