/** Which models a request is shown: a named key may be limited to some. */
import type { FastifyRequest } from 'fastify';
import { holderOf } from '../hooks.ts';

export const isSeenBy = (request: FastifyRequest, id: string): boolean =>
  holderOf(request)?.mayUse(id) ?? true;

export function requireSeen(request: FastifyRequest, id: string): void {
  const holder = holderOf(request);
  if (holder?.mayUse(id) === false) throw holder.refusalOf(id);
}
