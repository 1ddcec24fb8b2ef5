/** Headers that tell how a request was understood, apart from its answer. */
import type { FastifyReply } from 'fastify';
import { rewritingNames, type RequestNotes } from '../../api/chat/request-notes.ts';
import type { Rewriting } from '../../api/chat/volatile-lines.ts';
import { HEADERS, STAND_IN_TEMPLATE } from '../../wire/headers.ts';
import { nameKeywords } from '../keyword-names.ts';

/** Set before the answer is made: a later failure carries it too. */
export function setNoteHeaders(
  reply: FastifyReply,
  { ignored, relaxed = [], substituted = null, hasStandIn = false, rewritten = [] }: RequestNotes,
): void {
  nameIgnored(reply, ignored);
  nameKeywords(
    reply,
    HEADERS.relaxed,
    relaxed.filter(({ narrowed }) => narrowed !== true),
  );
  nameKeywords(
    reply,
    HEADERS.narrowed,
    relaxed.filter(({ narrowed }) => narrowed === true),
  );
  nameRewritten(reply, rewritten);
  if (substituted !== null) reply.header(HEADERS.substitutedModel, substituted);
  // A base model continues text; who asks it to chat is told, for the answer may be anything.
  if (hasStandIn) reply.header(HEADERS.chatTemplate, STAND_IN_TEMPLATE);
}

function nameIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  // Clients choose these names; long and odd ones are made fit for a header.
  const safe = names.map((name) => name.replaceAll(/[^\w.[\]-]/g, '?').slice(0, 64));
  reply.header(HEADERS.ignoredParams, [...new Set(safe)].slice(0, 32).join(','));
}

function nameRewritten(reply: FastifyReply, rewritten: readonly Rewriting[]): void {
  if (rewritten.length > 0) reply.header(HEADERS.rewritten, rewritingNames(rewritten).join(', '));
}
