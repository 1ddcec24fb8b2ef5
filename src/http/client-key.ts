import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/**
 * Who a request comes from, for fairness only: the address, the key and the program that sends it.
 * On one machine all addresses are equal, so a program may name itself with X-Svc-Client-Id.
 */
export function clientKey(request: FastifyRequest): string {
  const { authorization, 'user-agent': agent, 'x-svc-client-id': id } = request.headers;
  const facts = [request.ip, authorization ?? '', agent ?? '', id ?? ''].join('\n');
  return createHash('sha256').update(facts).digest('base64url').slice(0, 16);
}
