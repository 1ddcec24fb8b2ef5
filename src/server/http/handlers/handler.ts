/**
 * server/http/handlers owns what is particular to one route: the parts of a request for its use case, and the headers of its
 * answer. It knows nothing of sockets, access rules or engines.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../api/caller.ts';
import { clientKey, clientName } from '../client-key.ts';
import { computes, keyHolder, requireOwner, openRequest } from '../hooks.ts';
import { requestAccount, requestTraceparent } from '../request-log.ts';
import { noteGuards } from '../answer-headers.ts';
import { readRoute } from '../upstream-headers.ts';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

export function toCaller(request: FastifyRequest, signal: AbortSignal): Caller {
  // A route without `computes` in its row would escape the limit of its key.
  if (!computes(request))
    throw new Error(`${request.routeOptions.url} computes, and its route does not say so`);
  const holder = keyHolder(request);
  const open = openRequest(request);
  const account = requestAccount(request);
  const owner = requireOwner(request);
  return {
    requestId: request.id,
    clientKey: clientKey(request, owner),
    owner,
    clientName: holder?.record.name ?? clientName(request),
    gate: open ?? holder,
    hold: open && (() => open.hold()),
    signal,
    route: readRoute(request, requestTraceparent(request)),
    account: {
      onModel: (id) => account?.onModel(id),
      onEvent: (event) => {
        noteGuards(request, event);
        account?.onEvent(event);
      },
      onCheck: (ms) => account?.onCheck?.(ms),
    },
  };
}

export const isSeenBy = (request: FastifyRequest, id: string): boolean =>
  keyHolder(request)?.mayUse(id) ?? true;

export function requireSeen(request: FastifyRequest, id: string): void {
  const holder = keyHolder(request);
  if (holder?.mayUse(id) === false) throw holder.modelRefusal(id);
}

/** Aborts when the client disconnects before its answer is complete; `close` after the end means nothing. */
export function abortOnDisconnect(reply: FastifyReply): AbortController {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller;
}
