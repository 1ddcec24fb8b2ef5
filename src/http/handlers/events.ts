/** The stream of what the engine does: written as fast as its reader takes it, and no faster than it changes. */
import type { FeedEvent } from '../../api/events/engine-feed.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { headerValue, REQUEST_HEADERS } from '../../wire/headers.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { PendingItems, sendHead, type StreamOptions, takeReply, write } from '../sse.ts';
import type { Handler } from './handler.ts';

export function eventsHandler(
  { events }: Pick<UseCases, 'events'>,
  { clock }: Pick<StreamOptions, 'clock'>,
): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const lastEventId = headerValue(request.headers, REQUEST_HEADERS.lastEventId);
    const pending = new PendingItems(events.follow(lastEventId, client.signal), clock);
    const raw = takeReply(reply);
    try {
      sendHead(raw, reply, { clock, abort: () => client.abort() });
      while (!raw.destroyed) {
        const item = await pending.next(HTTP_LIMITS.pingEveryMs);
        if (item === 'end') break;
        await write(raw, item === 'silence' ? ': ping\n\n' : framed(item));
      }
      raw.end();
      return reply;
    } finally {
      client.abort();
      await pending.close();
    }
  };
}

const framed = ({ id, event, data }: FeedEvent): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
