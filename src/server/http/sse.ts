/**
 * A stream over one response: server-sent events, or lines of JSON. The next event is requested only when the socket
 * has room. A stream ends in exactly one of two ways: its dialect's end frame, or an error frame and a closed socket.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/logger.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { Dialect } from '../../wire/error.ts';
import { HEADERS } from '../../wire/headers.ts';
import type { StreamItem } from '../api/generation/stream-item.ts';
import { EVENT_STREAM, type DialectFraming, framingFor } from './framing.ts';
import { asSvcError, describeFailure } from './error-response.ts';
import { readSender, type ChooseShape } from './error-shape.ts';
import { setStartHeaders } from './answer-headers.ts';
import { HTTP_LIMITS } from './limits.ts';
import { noteFailure } from './request-log.ts';

export interface StreamOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly headAfterMs: number;
  readonly chooseShape: ChooseShape;
}

export interface SseOptions extends StreamOptions {
  readonly dialect?: Dialect | undefined;
  readonly abort: () => void;
}

/**
 * Failures before the head is sent are thrown and become ordinary HTTP errors. After that the response is written
 * here, because fastify would end it as if it were complete.
 */
export async function sendStream(
  reply: FastifyReply,
  items: AsyncGenerator<StreamItem, void, void>,
  options: SseOptions,
): Promise<FastifyReply> {
  const pending = new PendingItems(items, options.clock);
  const framing = framingFor(options.dialect, options.chooseShape(readSender(reply.request)));
  let sent = 0;
  const comments = await untilStarted(reply, pending, options);
  const raw = takeReply(reply, framing.contentType);
  try {
    sendHead(raw, reply, options);
    for (const text of comments) await write(raw, framing.comment(text));
    await writeItems(raw, pending, framing, (chunk) => {
      sent += 1;
      return framing.frame(chunk);
    });
  } catch (thrown) {
    const error = asSvcError(thrown);
    const requestId = reply.request.id;
    if (error.code === 'internal')
      options.log.error({ err: thrown, requestId }, 'A stream failed because of a bug.');
    noteFailure(reply.request, error);
    const failure = describeFailure(error, requestId);
    if (raw.headersSent) endBroken(raw, framing.errorFrame(failure, sent));
    else refuse(raw, { code: error.code, body: framing.errorBody(failure) }, options);
  } finally {
    await pending.close();
  }
  return reply;
}

export function takeReply(reply: FastifyReply, contentType = EVENT_STREAM): ServerResponse {
  reply
    .header('Content-Type', contentType)
    .header('Cache-Control', 'no-cache')
    .header('X-Accel-Buffering', 'no');
  return reply.hijack().raw;
}

/** Sends the head now, because the first chunk may come after a long prefill. */
export function sendHead(
  raw: ServerResponse,
  reply: FastifyReply,
  reader: Pick<SseOptions, 'clock' | 'abort'>,
): void {
  raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
  const { socket } = raw;
  socket?.cork();
  raw.flushHeaders();
  process.nextTick(() => socket?.uncork());
  socket?.setNoDelay(true);
  guardStalledReader(raw, reply, reader);
}

async function untilStarted(
  reply: FastifyReply,
  pending: PendingItems<StreamItem>,
  options: SseOptions,
): Promise<string[]> {
  const comments: string[] = [];
  const deadline = options.clock.monotonicMs() + options.headAfterMs;
  while (true) {
    const item = await pending.next(Math.max(0, deadline - options.clock.monotonicMs()));
    if (item === 'silence') return comments;
    if (item === 'end') throw new Error('a stream ended before it started');
    if ('started' in item) {
      setStartHeaders(reply, item.started);
      return comments;
    }
    if ('comment' in item) comments.push(item.comment);
    else throw new Error('a stream sent a chunk before it started');
  }
}

async function writeItems(
  raw: ServerResponse,
  pending: PendingItems<StreamItem>,
  framing: DialectFraming,
  framed: (chunk: object) => string,
): Promise<void> {
  while (!raw.destroyed) {
    const item = await pending.next(HTTP_LIMITS.pingEveryMs);
    if (item === 'end') return void raw.end(framing.end);
    if (item === 'silence') await write(raw, framing.ping);
    else if ('comment' in item) await write(raw, framing.comment(item.comment));
    else if ('chunk' in item) await write(raw, framed(item.chunk));
  }
}

export async function write(raw: ServerResponse, text: string): Promise<void> {
  if (text === '' || raw.destroyed || raw.write(text)) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      raw.off('drain', settle).off('close', settle);
      resolve();
    };
    raw.on('drain', settle).on('close', settle);
  });
}

/**
 * A client must not take a failed answer for a complete one, so the socket is destroyed after the frame: without the
 * chunked terminator the transfer is visibly incomplete.
 */
function endBroken(raw: ServerResponse, last: string): void {
  if (!raw.destroyed) raw.write(last, () => raw.socket?.destroySoon());
}

interface Words {
  readonly code: string;
  readonly body: object;
}

function refuse(raw: ServerResponse, { code, body }: Words, { abort }: SseOptions): void {
  abort();
  for (const name of raw.getHeaderNames()) raw.removeHeader(name);
  raw.writeHead(500, {
    [HEADERS.errorCode]: code,
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
  });
  raw.end(JSON.stringify(body));
}

/** A reader that takes nothing holds a slot, so it counts as gone after a while. */
function guardStalledReader(
  raw: ServerResponse,
  { request }: FastifyReply,
  { clock, abort }: Pick<SseOptions, 'clock' | 'abort'>,
): void {
  let cancel: (() => void) | undefined;
  const check = () => {
    const { socket } = raw;
    const written = socket?.bytesWritten ?? 0;
    const waiting = raw.writableLength > 0;
    cancel = clock.after(HTTP_LIMITS.stalledReaderMs, () => {
      if (waiting && raw.writableLength > 0 && (socket?.bytesWritten ?? 0) === written) {
        noteFailure(request, fail('client_stalled', { seconds: HTTP_LIMITS.stalledReaderMs / 1_000 }));
        abort();
        raw.destroy();
      } else {
        check();
      }
    });
  };
  raw.once('close', () => cancel?.());
  check();
}

/** An iterator with a timeout: `silence` if nothing arrived in time; the item is not lost. */
export class PendingItems<Item> {
  readonly #items: AsyncGenerator<Item, void, void>;
  readonly #clock: Clock;
  #next: Promise<IteratorResult<Item, void>> | undefined;
  #silentAtMs = Number.POSITIVE_INFINITY;
  #onSilence: () => void = () => {};
  /** One timer, set again only when it fires or is too late, so that an item costs no timer. */
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(items: AsyncGenerator<Item, void, void>, clock: Clock) {
    this.#items = items;
    this.#clock = clock;
  }

  /** A promise takes half the time of Promise.race. */
  next(patienceMs: number): Promise<Item | 'silence' | 'end'> {
    const next = (this.#next ??= this.#items.next());
    this.#silentAtMs = this.#clock.monotonicMs() + patienceMs;
    if (this.#timer === undefined || this.#timer.atMs > this.#silentAtMs) this.#setTimer();
    return new Promise((resolve, reject) => {
      this.#onSilence = () => resolve('silence');
      next.then(
        (result) => {
          this.#silentAtMs = Number.POSITIVE_INFINITY;
          this.#next = undefined;
          if (!result.done) return resolve(result.value);
          this.#timer?.cancel();
          resolve('end');
        },
        (error: unknown) => {
          this.#silentAtMs = Number.POSITIVE_INFINITY;
          // The timer would keep all of this in memory until it fires.
          this.#timer?.cancel();
          reject(error);
        },
      );
    });
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#items.return();
  }

  #setTimer(): void {
    this.#timer?.cancel();
    const atMs = this.#silentAtMs;
    const cancel = this.#clock.after(Math.max(0, atMs - this.#clock.monotonicMs()), () => this.#onTimer());
    this.#timer = { atMs, cancel };
  }

  #onTimer(): void {
    this.#timer = undefined;
    if (this.#silentAtMs === Number.POSITIVE_INFINITY) return;
    if (this.#silentAtMs > this.#clock.monotonicMs()) return this.#setTimer();
    this.#silentAtMs = Number.POSITIVE_INFINITY;
    this.#onSilence();
  }
}
