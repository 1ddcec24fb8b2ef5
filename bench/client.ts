/** A measuring client for any OpenAI-compatible base URL: time to first token, gaps between tokens, totals. */
import { createParser } from 'eventsource-parser';

export interface Side {
  readonly name: string;
  readonly url: string;
  readonly model: string;
  /** Sent as X-Svc-Client-Id; without it all requests of a benchmark are one client to the service. */
  readonly clientId?: string;
}

/** The URL without a trailing slash and without `/v1`, in whichever form a client of the service has it. */
export const baseUrl = (url: string): string => url.replace(/\/+$/, '').replace(/\/v1$/, '');

/** The service answered, and with an error. */
export class Refusal extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface StreamMeasure {
  /** Milliseconds from sending the request. */
  readonly firstTokenMs: number;
  readonly totalMs: number;
  /** Milliseconds between consecutive text chunks. */
  readonly gapsMs: readonly number[];
  /** As the server counts, else the chunks. */
  readonly tokens: number;
  readonly text: string;
}

export interface ChatOptions {
  readonly maxTokens: number;
  readonly signal?: AbortSignal;
  readonly onToken?: (count: number) => void;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly completion_tokens?: number } | null;
  readonly error?: unknown;
}

/** Streams one greedy answer and measures it; anything but a complete stream is an error. */
export async function streamChat(
  side: Side,
  messages: readonly Message[],
  options: ChatOptions,
): Promise<StreamMeasure> {
  const begin = performance.now();
  const response = await post(
    side,
    '/v1/chat/completions',
    {
      model: side.model,
      messages,
      max_tokens: options.maxTokens,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    },
    options.signal,
  );
  const times: number[] = [];
  let text = '';
  let tokens: number | undefined;
  let complete = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') {
        complete = true;
        return;
      }
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error !== undefined) throw new Error(`${side.name}: ${JSON.stringify(chunk.error)}`);
      tokens = chunk.usage?.completion_tokens ?? tokens;
      const piece = chunk.choices?.[0]?.delta?.content ?? '';
      if (piece === '') return;
      times.push(performance.now());
      text += piece;
      options.onToken?.(times.length);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? [])
    parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
  if (!complete) throw new Error(`${side.name}: the stream ended without [DONE]`);
  const end = performance.now();
  return {
    firstTokenMs: (times[0] ?? end) - begin,
    totalMs: end - begin,
    gapsMs: times.slice(1).map((time, at) => time - (times[at] ?? time)),
    tokens: tokens ?? times.length,
    text,
  };
}

/** One whole answer; returns milliseconds and the parsed body. */
export async function postJson(
  side: Side,
  route: string,
  body: object,
): Promise<{ ms: number; body: unknown }> {
  const begin = performance.now();
  const response = await post(side, route, { model: side.model, ...body });
  const parsed: unknown = await response.json();
  return { ms: performance.now() - begin, body: parsed };
}

async function post(side: Side, route: string, body: object, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(`${side.url}${route}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(side.clientId === undefined ? {} : { 'x-svc-client-id': side.clientId }),
    },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
  if (!response.ok) {
    const said = (await response.text()).slice(0, 300);
    throw new Refusal(`${side.name}: ${response.status} ${said}`, response.status);
  }
  return response;
}
