import type { FastifyReply, FastifyRequest } from 'fastify';
import { rewritingNames, type RequestNotes } from '../api/chat/request-notes.ts';
import type { Rewriting } from '../api/chat/volatile-lines.ts';
import { HEADERS, STAND_IN_TEMPLATE } from '../../wire/headers.ts';
import type { Relaxation } from '../api/chat/relaxations.ts';
import type { RequestAccount } from '../api/caller.ts';
import type { StreamItem } from '../api/generation/stream-item.ts';
import { setUpstreamHeader } from './upstream-headers.ts';

/** Call it before the answer is made, so that a later failure carries these headers too. */
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
  // A base model only continues text, so its answer to a chat is unpredictable.
  if (hasStandIn) reply.header(HEADERS.chatTemplate, STAND_IN_TEMPLATE);
}

export function setStartHeaders(
  reply: FastifyReply,
  { numCtx, folds, unheld, compaction }: Extract<StreamItem, { started: unknown }>['started'],
): void {
  if (numCtx > 0) reply.header(HEADERS.numCtx, String(numCtx));
  nameFolds(reply, folds);
  nameUnheld(reply, unheld);
  setUpstreamHeader(reply);
  nameCompaction(reply, compaction);
}

function nameFolds(reply: FastifyReply, folds: readonly string[] = []): void {
  const known = reply.getHeader(HEADERS.rewritten);
  const names = [...(known === undefined ? [] : [String(known)]), ...folds];
  if (folds.length > 0) reply.header(HEADERS.rewritten, names.join(', '));
}

function nameIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  // Clients choose these names, so they are made safe for a header.
  const safe = names.map((name) => name.replaceAll(/[^\w.[\]-]/g, '?').slice(0, 64));
  reply.header(HEADERS.ignoredParams, [...new Set(safe)].slice(0, 32).join(','));
}

function nameRewritten(reply: FastifyReply, rewritten: readonly Rewriting[]): void {
  if (rewritten.length > 0) reply.header(HEADERS.rewritten, rewritingNames(rewritten).join(', '));
}

const MAX_NAMED = 24;
const MAX_NAME_CHARS = 120;

function nameKeywords(reply: FastifyReply, header: string, keywords: readonly Relaxation[]): void {
  if (keywords.length > 0) setNames(reply, header, { names: keywords.map(keywordName), unnamed: 0 });
}

function nameUnheld(reply: FastifyReply, unheld: readonly Relaxation[] = []): void {
  if (unheld.length === 0) return;
  const known = String(reply.getHeader(HEADERS.relaxed) ?? '')
    .split(', ')
    .filter((name) => name !== '');
  const named = known.filter((name) => !name.startsWith('+'));
  const unnamed = Number.parseInt(known.find((name) => name.startsWith('+')) ?? '0', 10);
  const names = [...new Set([...named, ...unheld.map(keywordName)])];
  setNames(reply, HEADERS.relaxed, { names, unnamed });
}

interface Names {
  readonly names: readonly string[];
  readonly unnamed: number;
}

function setNames(reply: FastifyReply, header: string, { names, unnamed }: Names): void {
  const more = unnamed + Math.max(0, names.length - MAX_NAMED);
  reply.header(header, [...names.slice(0, MAX_NAMED), ...(more > 0 ? [`+${more} more`] : [])].join(', '));
}

/** `tool#/pointer/keyword`, with the pointer encoded as a URI fragment. */
function keywordName({ tool, pointer, keyword }: Relaxation): string {
  const step = keyword.replaceAll('~', '~0').replaceAll('/', '~1');
  return `${tool ?? ''}#${fragment(`${pointer}/${step}`)}`.slice(0, MAX_NAME_CHARS);
}

function fragment(pointer: string): string {
  return encodeURI(pointer.toWellFormed()).replaceAll(
    /[^\w%~/.$-]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
}

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

/** If one of several answers was ended, the header reports that. */
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

function nameCompaction(reply: FastifyReply, compaction: Compaction | undefined): void {
  if (compaction === undefined) return;
  const { tokensBefore, tokensAfter } = compaction;
  reply.header(HEADERS.compaction, `before=${tokensBefore}, after=${tokensAfter}`);
}
