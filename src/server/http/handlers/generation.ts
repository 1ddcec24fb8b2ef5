import type { FastifyReply } from 'fastify';
import type { RequestNotes } from '../../api/chat/request-notes.ts';
import type { StreamItem } from '../../api/generation/stream-item.ts';
import type { Caller } from '../../api/caller.ts';
import type { Dialect } from '../../../wire/error.ts';
import { HEADERS } from '../../../wire/headers.ts';
import { sendStream, type SseOptions, type StreamOptions } from '../sse.ts';
import { abortOnDisconnect, toCaller, type Handler } from './handler.ts';
import { nameGuards, setNoteHeaders } from '../answer-headers.ts';
import { setUpstreamHeader } from '../upstream-headers.ts';

export interface Accepted {
  readonly understood: RequestNotes;
  whole(): Promise<{ readonly body: object; readonly numCtx: number }>;
  stream(): AsyncGenerator<StreamItem, void, void>;
}

export async function sendAnswer(
  reply: FastifyReply,
  accepted: Accepted,
  stream: SseOptions | null,
): Promise<unknown> {
  if (stream !== null) return sendStream(reply, accepted.stream(), stream);
  const { body, numCtx } = await accepted.whole();
  setNoteHeaders(reply, accepted.understood);
  if (numCtx > 0) reply.header(HEADERS.numCtx, String(numCtx));
  setUpstreamHeader(reply);
  nameGuards(reply);
  return body;
}

interface Manner {
  readonly streams: StreamOptions;
  readonly dialect?: Dialect;
  readonly streamsByDefault?: boolean;
}

export function generationHandler<Body extends { readonly stream?: boolean | null }>(
  accept: (body: Body, caller: Caller) => Promise<Accepted>,
  { streams, dialect, streamsByDefault = false }: Manner,
): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as Body;
    const accepted = await accept(body, toCaller(request, client.signal));
    setNoteHeaders(reply, accepted.understood);
    const stream = { ...streams, dialect, abort: () => client.abort() };
    return sendAnswer(reply, accepted, (body.stream ?? streamsByDefault) ? stream : null);
  };
}

export function countHandler<Body>(
  count: (
    body: Body,
    caller: Caller,
  ) => Promise<{ readonly understood: RequestNotes; readonly body: object }>,
): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const counted = await count(request.body as Body, toCaller(request, signal));
    setNoteHeaders(reply, counted.understood);
    return counted.body;
  };
}
