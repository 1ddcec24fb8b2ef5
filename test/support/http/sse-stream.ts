/**
 * Reads a server-sent-event stream as strictly as the interface writes it: `data:` lines and comments, nothing else,
 * one per event, each frame fitting its schema, and nothing after the terminator or after an error frame.
 */
import type http from 'node:http';
import { expect } from 'vitest';
import type { ChatChunk } from '../../../src/wire/inference/chat.ts';
import type { ErrorBody } from '../../../src/wire/error.ts';
import { checkFrame } from './schema-check.ts';

export type Frame =
  | { readonly kind: 'chunk'; readonly chunk: ChatChunk }
  | { readonly kind: 'error'; readonly error: ErrorBody }
  | { readonly kind: 'comment'; readonly comment: string }
  | { readonly kind: 'done' };

/** A stream that has ended. */
export interface Transcript {
  readonly frames: readonly Frame[];
  readonly chunks: readonly ChatChunk[];
  readonly comments: readonly string[];
  readonly error: ErrorBody | null;
  /** `data: [DONE]` came. */
  readonly done: boolean;
  /** The transfer itself was complete; false when the socket was cut. */
  readonly complete: boolean;
  /** All text that was delivered. */
  readonly text: string;
}

export class SseStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly #response: http.IncomingMessage;
  readonly #path: string;
  readonly #bytes: AsyncIterator<Buffer>;
  readonly #frames: Frame[] = [];
  #unread = 0;
  #held: Buffer = Buffer.alloc(0);
  #complete: boolean | undefined;

  constructor(path: string, response: http.IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#path = path;
    this.#response = response;
    this.#bytes = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    expect(this.headers['content-type']).toMatch(/^text\/event-stream/);
  }

  /** The next frame, or null when the stream has ended, one way or the other. */
  async next(): Promise<Frame | null> {
    while (this.#unread === this.#frames.length && this.#complete === undefined) await this.#read();
    const frame = this.#frames[this.#unread];
    if (frame) this.#unread += 1;
    return frame ?? null;
  }

  /** Reads up to the first frame that carries text. */
  async firstText(): Promise<string> {
    while (true) {
      const frame = await this.next();
      if (frame === null) throw new Error('the stream ended without text');
      const content = frame.kind === 'chunk' ? frame.chunk.choices[0]?.delta.content : undefined;
      if (content !== undefined && content !== '') return content;
    }
  }

  /** Reads to the end. */
  async all(): Promise<Transcript> {
    while ((await this.next()) !== null);
    const chunks = this.#frames.flatMap((frame) => (frame.kind === 'chunk' ? [frame.chunk] : []));
    const errors = this.#frames.flatMap((frame) => (frame.kind === 'error' ? [frame.error] : []));
    const done = this.#frames.some((frame) => frame.kind === 'done');
    checkChunks(chunks);
    // The one promise that no stream may break: a failed answer never looks like a complete one.
    expect(done && errors.length > 0, 'an error frame beside [DONE]').toBe(false);
    expect(done, '[DONE] in a transfer that was cut, or an end without it').toBe(this.#complete);
    return {
      frames: this.#frames,
      chunks,
      comments: this.#frames.flatMap((frame) => (frame.kind === 'comment' ? [frame.comment] : [])),
      error: errors[0] ?? null,
      done,
      complete: this.#complete === true,
      text: chunks.map((chunk) => textOf(chunk)).join(''),
    };
  }

  /** Goes away without a word. */
  abandon(): void {
    this.#response.destroy();
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#bytes.next();
      if (done === true) this.#end(true);
      else this.#take(value);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      this.#end(false);
    }
  }

  #take(bytes: Buffer): void {
    this.#held = Buffer.concat([this.#held, bytes]);
    while (true) {
      const end = this.#held.indexOf('\n\n');
      if (end < 0) return;
      const block = new TextDecoder('utf-8', { fatal: true }).decode(this.#held.subarray(0, end));
      this.#held = this.#held.subarray(end + 2);
      this.#add(this.#parse(block));
    }
  }

  #add(frame: Frame): void {
    const last = this.#frames.at(-1)?.kind;
    if (last === 'done' || last === 'error') throw new Error(`a ${frame.kind} frame after the ${last} frame`);
    this.#frames.push(frame);
  }

  #parse(block: string): Frame {
    if (block.includes('\n')) throw new Error(`an event of several lines: ${JSON.stringify(block)}`);
    if (block.startsWith(': ')) return { kind: 'comment', comment: block.slice(2) };
    if (block === 'data: [DONE]') return { kind: 'done' };
    if (!block.startsWith('data: {')) throw new Error(`neither data nor comment: ${JSON.stringify(block)}`);
    const value: unknown = JSON.parse(block.slice('data: '.length));
    return checkFrame(this.#path, value) === 'error'
      ? { kind: 'error', error: value as ErrorBody }
      : { kind: 'chunk', chunk: value as ChatChunk };
  }

  #end(complete: boolean): void {
    if (complete) expect(this.#held.toString(), 'bytes after the last event').toBe('');
    this.#complete = complete;
  }
}

function textOf(chunk: ChatChunk): string {
  const choice = chunk.choices[0] as { delta?: { content?: string }; text?: string } | undefined;
  return choice?.delta?.content ?? choice?.text ?? '';
}

/** Every chunk names the same answer, and no text is cut inside a character. */
function checkChunks(chunks: readonly ChatChunk[]): void {
  const [first] = chunks;
  for (const chunk of chunks) {
    expect([chunk.id, chunk.created, chunk.model]).toEqual([first?.id, first?.created, first?.model]);
    expect(textOf(chunk).isWellFormed()).toBe(true);
  }
}
