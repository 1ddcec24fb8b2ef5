/** What chat and text completion share on the wire: the ignored fields, a stream or a whole body, and the window. */
import type { FastifyReply } from 'fastify';
import type { Relaxation } from '../../api/chat/relaxations.ts';
import type { StreamItem } from '../../api/generation/stream-item.ts';
import { ownerKey } from '../client-key.ts';
import type { Owner } from '../../api/dialects/responses/responses.ts';
import type { Caller } from '../../api/caller.ts';
import type { Dialect } from '../../wire/error.ts';
import { HEADERS } from '../../wire/headers.ts';
import { sendStream, type SseOptions, type StreamOptions } from '../sse.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import { callerOf, type Handler } from './handler.ts';

export interface Accepted {
  readonly ignored: readonly string[];
  /** The model that answers where another was asked for. */
  readonly substituted?: string | null;
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

/** What a client should know of how it was understood. */
export function nameSubstitute(reply: FastifyReply, { substituted }: Pick<Accepted, 'substituted'>): void {
  if (typeof substituted === 'string') reply.header(HEADERS.substitutedModel, substituted);
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
  accept: (body: Body, caller: Caller & Owner) => Promise<Accepted>,
  { streams, dialect }: { readonly streams: StreamOptions; readonly dialect?: Dialect },
): Handler {
  return async (request, reply) => {
    const client = abortOnDisconnect(reply);
    const body = request.body as Body;
    const accepted = await accept(body, { ...callerOf(request, client.signal), owner: ownerKey(request) });
    nameIgnored(reply, accepted.ignored);
    nameSubstitute(reply, accepted);
    const stream = { ...streams, dialect, abort: () => client.abort() };
    return sendAnswer(reply, accepted, body.stream === true ? stream : null);
  };
}

/** A route that counts the tokens of a prompt. */
export function countHandler<Body>(
  count: (
    body: Body,
    caller: Caller & Owner,
  ) => Promise<{ readonly ignored: readonly string[]; readonly body: object }>,
): Handler {
  return async (request, reply) => {
    const { signal } = abortOnDisconnect(reply);
    const caller = { ...callerOf(request, signal), owner: ownerKey(request) };
    const counted = await count(request.body as Body, caller);
    nameIgnored(reply, counted.ignored);
    return counted.body;
  };
}
