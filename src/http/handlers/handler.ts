import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestFacts } from '../../api/service.ts';
import { clientKey } from '../client-key.ts';

/** A handler reads the request, calls one use case, sets headers and returns the body. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** What use cases need to know of a request beside its body. */
export function requestFacts(request: FastifyRequest, signal: AbortSignal): RequestFacts {
  return { requestId: request.id, clientKey: clientKey(request), signal };
}
