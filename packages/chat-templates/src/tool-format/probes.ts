/**
 * Conversations that differ in one place. A probe is rendered like a request; the difference in the output is
 * evidence about the model.
 */
import type { HistoryForm } from './tool-format.ts';
import { commonStart } from './units.ts';

export type Render = (variables: Readonly<Record<string, unknown>>) => string;

/** Rare words, so that a match in a rendering must come from the probe. */
export const SENTINEL = {
  question: 'QUESTION7401',
  words: 'WORDS7402',
  thought: 'THOUGHT7403',
  result: 'RESULT7404',
  first: 'first_tool7405',
  second: 'second_tool7406',
  key: 'alpha7407',
  key2: 'omega7408',
  value: 'VALUE7409',
  value2: 'VALUE7410',
} as const;

const PARAMETERS = {
  type: 'object',
  properties: { [SENTINEL.key]: { type: 'string' }, [SENTINEL.key2]: { type: 'string' } },
  required: [SENTINEL.key],
};

const PROBE_TOOLS = [SENTINEL.first, SENTINEL.second].map((name) => ({
  type: 'function',
  function: { name, description: 'A probe.', parameters: PARAMETERS },
}));

export interface ProbeCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface ProbeAnswer {
  readonly words?: string;
  readonly thought?: string;
  readonly calls?: readonly ProbeCall[];
}

export interface ProbeOptions {
  readonly tools?: boolean;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly results?: boolean;
}

type Style = Pick<HistoryForm, 'arguments' | 'emptyContent' | 'ids'>;

const QUESTION = { role: 'user', content: SENTINEL.question };

export function probeId(ids: HistoryForm['ids'], index: number, name: string): string {
  if (ids === 'nine') return `callid00${index}`;
  return ids === 'functions' ? `functions.${name}:${index}` : `call_id7411_of_some_length_${index}`;
}

export class Probe {
  readonly #render: Render;
  readonly style: Style;

  constructor(render: Render, style: Style) {
    this.#render = render;
    this.style = style;
  }

  prompt(options: ProbeOptions = {}): string {
    return this.#render({ messages: [QUESTION], add_generation_prompt: true, ...context(options) });
  }

  /** Text after the prompt when the answer is part of the history; null if the template refuses it. */
  answer(answer: ProbeAnswer, options: ProbeOptions = {}): string | null {
    try {
      const rendered = this.#render({
        messages: [
          QUESTION,
          this.#message(answer),
          ...(options.results === true ? this.#results(answer) : []),
        ],
        add_generation_prompt: false,
        ...context(options),
      });
      const from = rendered.indexOf(SENTINEL.question) + SENTINEL.question.length;
      const prompt = this.prompt(options);
      const behind = prompt.slice(prompt.indexOf(SENTINEL.question) + SENTINEL.question.length);
      const rest = rendered.slice(from);
      return rest.slice(commonStart(rest, behind).length);
    } catch {
      return null;
    }
  }

  #message({ words, thought, calls }: ProbeAnswer): Record<string, unknown> {
    const empty = this.style.emptyContent === 'null' ? null : '';
    return {
      role: 'assistant',
      content: words ?? empty,
      ...(thought === undefined ? {} : { reasoning_content: thought, reasoning: thought, thinking: thought }),
      ...(calls === undefined
        ? {}
        : {
            tool_calls: calls.map((call, index) => ({
              id: probeId(this.style.ids, index, call.name),
              type: 'function',
              function: {
                name: call.name,
                arguments: this.style.arguments === 'text' ? JSON.stringify(call.arguments) : call.arguments,
              },
            })),
          }),
    };
  }

  #results({ calls = [] }: ProbeAnswer): Record<string, unknown>[] {
    return calls.map(({ name }, index) => ({
      role: 'tool',
      name,
      tool_call_id: probeId(this.style.ids, index, name),
      content: SENTINEL.result,
    }));
  }
}

function context({ tools = true, variables = {} }: ProbeOptions): Record<string, unknown> {
  return { tools: tools ? PROBE_TOOLS : null, ...variables };
}
