import type { FastifyReply } from 'fastify';

/** Aborts when the client goes away before its answer is complete; `close` after the end means nothing. */
export function abortOnDisconnect(reply: FastifyReply): AbortController {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller;
}
