import { createParser } from 'eventsource-parser';
import { isSvcError } from '../../../../lib/errors/svc-error.ts';
import { broken } from '../failures.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import type { Exchange } from './exchange.ts';

export interface EventSink {
  /** Takes the `data` of events. Returns a promise if it needs a pause before more. */
  take(events: readonly string[]): Promise<void> | undefined;
  /** True after the end of the answer; the rest of the body stays unread and the connection open. */
  readonly isOver: boolean;
}

/**
 * Resolves at the end of the body or when the sink is over; rejects with errors of sink and body. Uses listeners
 * because an iterator of the body doubles the cost of reading short pieces.
 */
export async function readEvents(answer: Exchange, sink: EventSink): Promise<void> {
  checkType(answer);
  const { response } = answer;
  const takeEvents = eventTaker(answer);
  await new Promise<void>((resolve, reject) => {
    let isSettled = false;
    const settle = (then: () => void): void => {
      isSettled = true;
      response.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure);
      then();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const onEnd = (): void => settle(resolve);
    const onFailure = (error?: unknown): void => fail(isSvcError(error) ? error : answer.failure(error));
    const onData = (piece: Buffer): void => {
      try {
        const events = takeEvents(piece);
        if (events.length === 0) return;
        const room = sink.take(events);
        if (room === undefined) return sink.isOver ? settle(resolve) : undefined;
        response.pause();
        room.then(() => {
          if (isSettled) return;
          if (sink.isOver) settle(resolve);
          else response.resume();
        }, fail);
      } catch (error) {
        fail(error);
      }
    };
    if (response.destroyed) return onFailure();
    response.on('data', onData).on('end', onEnd).on('error', onFailure).on('close', onFailure);
  });
}

/**
 * Chosen: for each line ending in CR or LF, the parser searches the rest of its input for the other one. A long input
 * of nothing but line ends would take quadratic time.
 */
const FEED_CHARS = 1_024;

function checkType({ response, asked: { upstream } }: Exchange): void {
  const type = String(response.headers['content-type'] ?? '');
  if (/^text\/event-stream\b/i.test(type)) return;
  const shown = type === '' ? 'of no type' : type.slice(0, 64);
  throw broken(upstream, 'content_type', `it is ${shown} and no stream of events`);
}

function eventTaker({ asked: { upstream }, watch }: Exchange): (piece: Buffer) => readonly string[] {
  let events: string[] = [];
  let tooLong = false;
  let bytes = 0;
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: UPSTREAM_LIMITS.eventChars,
    onEvent: ({ data }) => void events.push(data),
    onError: ({ type: fault }) => {
      tooLong ||= fault === 'max-buffer-size-exceeded';
    },
  });
  return (piece) => {
    watch.alive();
    bytes += piece.length;
    if (bytes > UPSTREAM_LIMITS.streamBytes)
      throw tooMuch(upstream, `it has more than ${UPSTREAM_LIMITS.streamBytes} bytes`);
    const text = decoder.decode(piece, { stream: true });
    for (let at = 0; at < text.length; at += FEED_CHARS) {
      parser.feed(text.length <= FEED_CHARS ? text : text.slice(at, at + FEED_CHARS));
      if (tooLong) break;
    }
    if (tooLong)
      throw tooMuch(upstream, `one of its events has more than ${UPSTREAM_LIMITS.eventChars} characters`);
    const complete = events;
    events = [];
    return complete;
  };
}

const tooMuch = (upstream: string, reason: string): Error => broken(upstream, 'rubbish', reason);
