import type { FastifyRequest } from 'fastify';
import type { RequestFacts } from '../../router/service.ts';
import { clientKey } from '../client-key.ts';

export function requestFacts(request: FastifyRequest, signal: AbortSignal): RequestFacts {
  return { requestId: request.id, clientKey: clientKey(request), signal };
}
