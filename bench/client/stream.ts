/** Streamed answers, measured: time to first token, gaps between tokens, totals. */
import { createParser } from 'eventsource-parser';
import { post, type Side } from './side.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly object[];
}

export interface StreamMeasure {
  /** When the text chunks came, by the clock of performance.now(). */
  readonly arrivalsMs: readonly number[];
  /** Milliseconds from sending the request. */
  readonly firstTokenMs: number;
  readonly totalMs: number;
  /** Milliseconds between consecutive text chunks. */
  readonly gapsMs: readonly number[];
  /** As the server counts, else the chunks. */
  readonly tokens: number;
  /** As the server counts; null where it does not. */
  readonly promptTokens: number | null;
  readonly text: string;
}

export interface StreamOptions {
  readonly maxTokens: number;
  readonly stop?: readonly string[];
  readonly signal?: AbortSignal;
  /** Ends the stream from here: what came until then is measured. */
  readonly until?: AbortSignal;
  readonly onToken?: (count: number) => void;
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly text?: string;
  }[];
  readonly usage?: { readonly completion_tokens?: number; readonly prompt_tokens?: number } | null;
  readonly error?: unknown;
}

/** Streams one answer, greedy unless the side says otherwise; anything but a complete stream is an error. */
export const streamChat = (side: Side, messages: readonly Message[], options: StreamOptions) =>
  stream(side, '/v1/chat/completions', { messages }, options);

/** The same for plain text that the model continues. */
export const streamText = (side: Side, prompt: string, options: StreamOptions) =>
  stream(side, '/v1/completions', { prompt }, options);

async function stream(
  side: Side,
  route: string,
  question: object,
  options: StreamOptions,
): Promise<StreamMeasure> {
  const begin = performance.now();
  const body = {
    ...question,
    model: side.model,
    max_tokens: options.maxTokens,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    ...(options.stop && { stop: options.stop }),
    ...side.extra,
  };
  const answer = new Answer(side.name, options.onToken);
  const signals = [options.signal, options.until].flatMap((signal) => signal ?? []);
  try {
    const response = await post(side, route, body, AbortSignal.any(signals));
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? [])
      answer.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
    if (!answer.isComplete) throw new Error(`${side.name}: the stream ended without [DONE]`);
  } catch (error) {
    if (options.until?.aborted !== true) throw error;
  }
  return answer.measure(begin);
}

/** One streamed answer as its events come in. */
class Answer {
  readonly #arrivalsMs: number[] = [];
  readonly #parser;
  #text = '';
  #usage: Chunk['usage'] = null;
  isComplete = false;

  constructor(name: string, onToken?: (count: number) => void) {
    this.#parser = createParser({
      onEvent: ({ data }) => {
        if (data === '[DONE]') {
          this.isComplete = true;
          return;
        }
        const chunk = JSON.parse(data) as Chunk;
        if (chunk.error !== undefined) throw new Error(`${name}: ${JSON.stringify(chunk.error)}`);
        this.#usage = chunk.usage ?? this.#usage;
        const choice = chunk.choices?.[0];
        const piece = choice?.delta?.content ?? choice?.text ?? '';
        if (piece === '') return;
        this.#arrivalsMs.push(performance.now());
        this.#text += piece;
        onToken?.(this.#arrivalsMs.length);
      },
    });
  }

  feed(text: string): void {
    this.#parser.feed(text);
  }

  measure(begin: number): StreamMeasure {
    const times = this.#arrivalsMs;
    const end = performance.now();
    return {
      arrivalsMs: times,
      firstTokenMs: (times[0] ?? end) - begin,
      totalMs: end - begin,
      gapsMs: times.slice(1).map((time, at) => time - (times[at] ?? time)),
      tokens: this.#usage?.completion_tokens ?? times.length,
      promptTokens: this.#usage?.prompt_tokens ?? null,
      text: this.#text,
    };
  }
}
