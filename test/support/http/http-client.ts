/**
 * The HTTP client of all tests, over real sockets. Whatever a test asks, the answer must keep the promises that hold
 * for every answer: banner, request id, identity headers, no CORS, a body that fits its schema, honest framing.
 */
import http from 'node:http';
import { expect } from 'vitest';
import { checkAnswer } from './schema-check.ts';
import { SseStream } from './sse-stream.ts';

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; text and bytes as they are, without a content type. */
  readonly body?: unknown;
  /** Set when a test expects CORS headers. */
  readonly cors?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies whose schema is checked already
  readonly body: any;
}

export class HttpClient {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.#headers = headers;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.ask({ path, headers });
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.ask({ method: 'POST', path, body, headers });
  }

  chat(fields: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.post('/v1/chat/completions', { ...hello, ...fields }, headers);
  }

  embed(fields: object, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.post('/v1/embeddings', { model: 'default-embedding', ...fields }, headers);
  }

  async ask(ask: Ask): Promise<Reply> {
    const response = await this.#send(ask);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return checkedReply(ask, response, Buffer.concat(chunks));
  }

  /** A chat stream from its head on; a refusal is returned as a reply. */
  streamChat(fields: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<SseStream> {
    return this.openStream({
      method: 'POST',
      path: '/v1/chat/completions',
      body: { ...hello, stream: true, ...fields },
      headers,
    });
  }

  async openStream(ask: Ask): Promise<SseStream> {
    const response = await this.#send(ask);
    expect(response.statusCode, 'the status of a stream').toBe(200);
    checkHead(ask, response);
    return new SseStream(ask.path, response);
  }

  #send(ask: Ask): Promise<http.IncomingMessage> {
    const { method = 'GET', path, body } = ask;
    const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
    const bytes = body === undefined ? undefined : isJson ? JSON.stringify(body) : (body as string | Buffer);
    const headers: Record<string, string | number> = {
      ...(isJson && body !== undefined ? { 'content-type': 'application/json' } : {}),
      ...(bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) }),
      ...this.#headers,
      ...ask.headers,
    };
    return new Promise((resolve, reject) => {
      const request = http.request(new URL(this.url), { method, path, headers, agent: false });
      request.once('response', resolve);
      request.once('error', reject);
      request.end(bytes);
    });
  }
}

/** The smallest chat request of the interface. */
export const hello = { model: 'default', messages: [{ role: 'user', content: 'Hello' }] } as const;

function checkedReply(ask: Ask, response: http.IncomingMessage, bytes: Buffer): Reply {
  const { statusCode: status = 0, statusMessage = '', headers } = response;
  const method = ask.method ?? 'GET';
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  checkHead(ask, response);
  if (method === 'HEAD') {
    expect(text).toBe('');
    return { status, statusMessage, headers, text, body: undefined };
  }
  if (/^(?:text\/event-stream|application\/x-ndjson)/.test(headers['content-type'] ?? ''))
    return { status, statusMessage, headers, text, body: undefined };
  expect(headers['content-type']).toMatch(/^application\/json/);
  const body: unknown = JSON.parse(text);
  checkAnswer(method, ask.path, status, body);
  if (status >= 400) checkError(headers, body as Record<string, unknown>, status);
  return { status, statusMessage, headers, text, body };
}

/** What holds for the head of every answer. Literals on purpose: they are the wire. */
function checkHead(ask: Ask, { headers, statusMessage = '' }: http.IncomingMessage): void {
  expect(headers['server']).toBe('hearth/1.2');
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  // oxlint-disable-next-line no-control-regex -- exactly these must not be there
  expect(statusMessage).not.toMatch(/[^\x20-\x7e]/);
  expect(headers['x-svc-instance-id']).toMatch(/^svc-[a-z2-7]{26}$/);
  expect(headers['x-svc-boot-id']).toMatch(/^[0-9a-f]{32}$/);
  if (ask.cors !== true) {
    const cors = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
    expect(cors, 'CORS headers').toEqual([]);
  }
}

/** What holds for every failure: the sentence twice, no inside of the program, and advice on retries. */
function checkError(headers: http.IncomingHttpHeaders, body: Record<string, unknown>, status: number): void {
  const { error } = body;
  // Other dialects nest it, and those of OpenAI's clients do.
  const sentence = typeof error === 'string' ? error : (error as { message: string }).message;
  if ('message' in body) expect(body['message']).toBe(sentence);
  expect(sentence).toMatch(/\S+ \S+.*[.]$/s);
  expect(sentence).not.toMatch(/\n|\bundefined\b|(?<!")\bnull\b|\[object |\bat .+:\d+:\d+/);
  if (status === 429) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  if (status < 500 && status !== 429) expect(headers['x-should-retry']).toBe('false');
}
