/** Headers of an answer that a guard changed or whose conversation was made shorter, which its body may have no place for. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAccount } from '../api/caller.ts';
import { HEADERS } from '../wire/headers.ts';

type JobEvent = Parameters<RequestAccount['onEvent']>[0];
type DoneEvent = Extract<JobEvent, { type: 'done' }>;

interface Guards {
  readonly repetition: DoneEvent['repetition'];
  readonly calls: DoneEvent['calls'];
  readonly compaction: Compaction | undefined;
}

type Compaction = NonNullable<DoneEvent['compaction']>;

const NOTHING: Guards = { repetition: undefined, calls: undefined, compaction: undefined };
const noted = new WeakMap<FastifyRequest, Guards>();

/** Of several answers, one that was ended counts most. */
export function noteGuards(request: FastifyRequest, event: JobEvent): void {
  if (event.type !== 'done') return;
  const { repetition, calls, compaction } = event;
  const known = noted.get(request);
  if (repetition === undefined && calls === undefined && compaction === undefined) return;
  noted.set(request, {
    repetition: known?.repetition === 'ended' ? 'ended' : (repetition ?? known?.repetition),
    calls: known?.calls === 'ended' ? 'ended' : (calls ?? known?.calls),
    compaction: compaction ?? known?.compaction,
  });
}

export function nameGuards(reply: FastifyReply): void {
  const { repetition, calls, compaction } = noted.get(reply.request) ?? NOTHING;
  if (repetition !== undefined) reply.header(HEADERS.repetition, repetition);
  if (calls !== undefined) reply.header(HEADERS.guardedCalls, calls);
  nameCompaction(reply, compaction);
}

export function nameCompaction(reply: FastifyReply, compaction: Compaction | undefined): void {
  if (compaction === undefined) return;
  const { tokensBefore, tokensAfter } = compaction;
  reply.header(HEADERS.compaction, `before=${tokensBefore}, after=${tokensAfter}`);
}
