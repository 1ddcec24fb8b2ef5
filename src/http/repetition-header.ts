/** The header of a whole answer that repeated itself, which its body may have no place for. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAccount } from '../api/caller.ts';
import { HEADERS } from '../wire/headers.ts';

type JobEvent = Parameters<RequestAccount['onEvent']>[0];
type Repetition = NonNullable<Extract<JobEvent, { type: 'done' }>['repetition']>;

const repeated = new WeakMap<FastifyRequest, Repetition>();

/** Of several answers, one that was ended counts most. */
export function noteRepetition(request: FastifyRequest, event: JobEvent): void {
  if (event.type !== 'done' || event.repetition === undefined) return;
  if (repeated.get(request) !== 'ended') repeated.set(request, event.repetition);
}

export function nameRepetition(reply: FastifyReply): void {
  const repetition = repeated.get(reply.request);
  if (repetition !== undefined) reply.header(HEADERS.repetition, repetition);
}
