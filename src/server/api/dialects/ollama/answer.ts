import type { DoneEvent, SampledToken } from '../../../../contract/job-event.ts';
import { parseSpelled } from '../../../../lib/json/parse-spelled.ts';
import type { OllamaToolCall } from '../../../../wire/ollama/response.ts';
import type { AnswerEvent, CallEvent } from '../../chat/choice-guard.ts';
import { wireGuards, wireLogprobs } from '../../generation/usage.ts';

export interface Words {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly CallEvent[];
  readonly tokens?: readonly SampledToken[];
}

export type Shape = (words: Words) => object;

export const chatShape: Shape = ({ text = '', reasoning = '', calls = [] }) => ({
  message: {
    role: 'assistant',
    content: text,
    ...(reasoning === '' ? {} : { thinking: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
  },
});

export const generateShape: Shape = ({ text = '', reasoning = '' }) => ({
  response: text,
  ...(reasoning === '' ? {} : { thinking: reasoning }),
});

function wireCall({ id, index, name, pieces }: CallEvent): OllamaToolCall {
  const given = parseSpelled(pieces.join('')) as Record<string, unknown>;
  return { id, function: { index, name, arguments: given } };
}

export interface AnswerFacts {
  readonly model: string;
  readonly shape: Shape;
  readonly unixMs: () => number;
}

export class AnswerWriter {
  readonly #facts: AnswerFacts;
  readonly #acceptedMs = performance.now();
  #startedMs: number | null = null;

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  started(): void {
    this.#startedMs ??= performance.now();
  }

  write(event: AnswerEvent): object[] {
    switch (event.type) {
      case 'started':
        this.started();
        return [];
      case 'text':
        return event.text === '' ? [] : [this.#line({ text: event.text, tokens: event.tokens ?? [] })];
      case 'reasoning':
        return event.text === '' ? [] : [this.#line({ reasoning: event.text })];
      case 'call':
        return [this.#line({ calls: [event] })];
      case 'done':
        return [this.whole({}, event)];
      default:
        return [];
    }
  }

  whole(words: Words, done: DoneEvent): object {
    const { finishReason, usage, timings } = done;
    return {
      ...this.#head(words),
      done: true,
      done_reason: finishReason === 'length' ? 'length' : 'stop',
      ...this.#durations(),
      prompt_eval_count: usage.promptTokens,
      prompt_eval_duration: nanoseconds(timings.prefillMs),
      eval_count: usage.completionTokens,
      eval_duration: nanoseconds(timings.decodeMs),
      ...wireGuards(done),
    };
  }

  empty(reason: 'load' | 'unload'): object {
    return { ...this.#head({}), done: true, done_reason: reason, ...this.#durations() };
  }

  #line(words: Words): object {
    return { ...this.#head(words), done: false };
  }

  #head(words: Words): object {
    const { model, shape, unixMs } = this.#facts;
    const { tokens = [] } = words;
    return {
      model,
      created_at: new Date(unixMs()).toISOString(),
      ...shape(words),
      ...(tokens.length === 0 ? {} : { logprobs: wireLogprobs(tokens).content }),
    };
  }

  #durations() {
    const nowMs = performance.now();
    return {
      total_duration: nanoseconds(nowMs - this.#acceptedMs),
      load_duration: nanoseconds((this.#startedMs ?? nowMs) - this.#acceptedMs),
    };
  }
}

export const nanoseconds = (ms: number): number => Math.round(ms * 1e6);
