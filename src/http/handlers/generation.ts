/** What chat and text completion share on the wire: the ignored fields, a stream or a whole body, and the window. */
import type { FastifyReply } from 'fastify';
import type { Relaxation } from '../../api/chat/relaxations.ts';
import type { StreamItem } from '../../api/generation/stream-item.ts';
import type { Caller } from '../../api/caller.ts';
import type { Dialect } from '../../wire/error.ts';
import { HEADERS } from '../../wire/headers.ts';
import { sendStream, type SseOptions, type StreamOptions } from '../sse.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { callerOf, type Handler } from './handler.ts';

export interface Accepted {
  readonly ignored: readonly string[];
  whole(): Promise<{ readonly body: object; readonly numCtx: number }>;
  stream(): AsyncGenerator<StreamItem, void, void>;
}

/** Set before the answer is made: a later failure carries it too. */
export function nameIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  // Clients choose these names; long and odd ones are made fit for a header.
  const safe = names.map((name) => name.replaceAll(/[^\w.[\]-]/g, '?').slice(0, 64));
  reply.header(HEADERS.ignoredParams, [...new Set(safe)].slice(0, 32).join(','));
}

/** Keywords that a header names; how many more there are is said behind them. */
const MAX_NAMED = 24;
const MAX_NAME_CHARS = 120;

/** Each as `tool#/pointer/keyword`, the pointer as a URI fragment has it. */
export function nameRelaxed(reply: FastifyReply, relaxed: readonly Relaxation[]): void {
  if (relaxed.length === 0) return;
  const names = relaxed.map(({ tool, pointer, keyword }) => {
    const step = keyword.replaceAll('~', '~0').replaceAll('/', '~1');
    return `${tool ?? ''}#${fragment(`${pointer}/${step}`)}`.slice(0, MAX_NAME_CHARS);
  });
  const more = names.length > MAX_NAMED ? [`+${names.length - MAX_NAMED} more`] : [];
  reply.header(HEADERS.relaxed, [...names.slice(0, MAX_NAMED), ...more].join(', '));
}

function fragment(pointer: string): string {
  return encodeURI(pointer.toWellFormed()).replaceAll(
    /[^\w%~/.$-]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
}

export async function sendAnswer(
  reply: FastifyReply,
  accepted: Accepted,
  stream: SseOptions | null,
): Promise<unknown> {
  if (stream !== null) return sendStream(reply, accepted.stream(), stream);
  const { body, numCtx } = await accepted.whole();
  reply.header(HEADERS.numCtx, String(numCtx));
  return body;
}

/** A route whose body says by `stream` how it is answered. */
export function generationHandler<Body extends { readonly stream?: boolean | null }>(
  accept: (body: Body, caller: Caller) => Promise<Accepted>,
  { streams, dialect }: { readonly streams: StreamOptions; readonly dialect?: Dialect },
): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as Body;
    const accepted = await accept(body, callerOf(request, client.signal));
    nameIgnored(reply, accepted.ignored);
    const stream = { ...streams, dialect, abort: () => client.abort() };
    return sendAnswer(reply, accepted, body.stream === true ? stream : null);
  };
}
