/** The stream of engine events: written as fast as its reader takes it, and no faster than the state changes. */
import type { FeedEvent } from '../../api/events/engine-feed.ts';
import { withOwnClients } from '../../api/events/engine-view.ts';
import type { UseCases } from '../../api/use-cases.ts';
import { headerValue, REQUEST_HEADERS } from '../../../wire/headers.ts';
import type { EngineState } from '../../../wire/operation/engine-state.ts';
import { abortOnDisconnect, type Handler } from './handler.ts';
import { ownKeyName } from '../hooks.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { PendingItems, sendHead, type StreamOptions, takeReply, write } from '../sse.ts';

export function eventsHandler(
  { events }: Pick<UseCases, 'events'>,
  { clock }: Pick<StreamOptions, 'clock'>,
): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const lastEventId = headerValue(request.headers, REQUEST_HEADERS.lastEventId);
    const name = ownKeyName(request);
    const pending = new PendingItems(events.follow(lastEventId, client.signal), clock);
    const raw = takeReply(reply);
    try {
      sendHead(raw, reply, { clock, abort: () => client.abort() });
      while (!raw.destroyed) {
        const item = await pending.next(HTTP_LIMITS.pingEveryMs);
        if (item === 'end') break;
        await write(
          raw,
          item === 'silence' ? ': ping\n\n' : framed(name === null ? item : withOwnNames(item, name)),
        );
      }
      raw.end();
      return reply;
    } finally {
      client.abort();
      await pending.close();
    }
  };
}

function withOwnNames({ data, ...event }: FeedEvent, name: string): FeedEvent {
  return { ...event, data: JSON.stringify(withOwnClients(JSON.parse(data) as Partial<EngineState>, name)) };
}

const framed = ({ id, event, data }: FeedEvent): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
