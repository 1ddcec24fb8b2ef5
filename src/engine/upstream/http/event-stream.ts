/** The events of an SSE body, pulled: nothing is read from the socket while the reader is busy with what came. */
import { createParser } from 'eventsource-parser';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { broken } from '../failures.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import type { Exchange } from './exchange.ts';

/** Yields what each piece of the body completes: the `data` of its events, perhaps none. */
export async function* eventsOf(answer: Exchange): AsyncGenerator<readonly string[], void, void> {
  const { response, watch } = answer;
  const { upstream } = answer.asked;
  const type = String(response.headers['content-type'] ?? '');
  if (!/^text\/event-stream\b/i.test(type)) {
    const shown = type === '' ? 'of no type' : type.slice(0, 64);
    throw broken(upstream, 'content_type', `it is ${shown} and no stream of events`);
  }
  const events: string[] = [];
  let tooLong = false;
  const parser = createParser({
    maxBufferSize: UPSTREAM_LIMITS.eventChars,
    onEvent: ({ data }) => void events.push(data),
    onError: ({ type: fault }) => {
      tooLong ||= fault === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    // Left open for a reader that has seen the end of the answer: the connection can then be used again.
    for await (const piece of response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      watch.alive();
      bytes += piece.length;
      if (bytes > UPSTREAM_LIMITS.answerBytes)
        throw tooMuch(upstream, `it has more than ${UPSTREAM_LIMITS.answerBytes} bytes`);
      parser.feed(decoder.decode(piece, { stream: true }));
      if (tooLong)
        throw tooMuch(upstream, `one of its events has more than ${UPSTREAM_LIMITS.eventChars} characters`);
      if (events.length > 0) yield events.splice(0);
    }
  } catch (error) {
    throw isSvcError(error) ? error : answer.failure(error);
  }
}

const tooMuch = (upstream: string, reason: string): Error => broken(upstream, 'rubbish', reason);
