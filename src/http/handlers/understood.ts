/** Headers that tell how a request was understood, apart from its answer. */
import type { FastifyReply } from 'fastify';
import type { Relaxation } from '../../api/chat/relaxations.ts';
import { HEADERS, STAND_IN_TEMPLATE } from '../../wire/headers.ts';

export interface Understood {
  /** Fields that have no effect. */
  readonly ignored: readonly string[];
  /** Keywords of schemas that only the check of the finished answer enforces. */
  readonly relaxed?: readonly Relaxation[];
  /** The model that answers where another was asked for. */
  readonly substituted?: string | null;
  /** Whether a stand-in puts the conversation, for want of a template. */
  readonly hasStandIn?: boolean;
}

/** Set before the answer is made: a later failure carries it too. */
export function nameUnderstood(
  reply: FastifyReply,
  { ignored, relaxed = [], substituted = null, hasStandIn = false }: Understood,
): void {
  nameIgnored(reply, ignored);
  nameRelaxed(reply, relaxed);
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

/** Keywords that a header names; how many more there are is said behind them. */
const MAX_NAMED = 24;
const MAX_NAME_CHARS = 120;

/** Each as `tool#/pointer/keyword`, the pointer as a URI fragment has it. */
function nameRelaxed(reply: FastifyReply, relaxed: readonly Relaxation[]): void {
  if (relaxed.length === 0) return;
  const names = relaxed.map(({ tool, pointer, keyword }) => {
    const step = keyword.replaceAll('~', '~0').replaceAll('/', '~1');
    return `${tool ?? ''}#${fragment(`${pointer}/${step}`)}`.slice(0, MAX_NAME_CHARS);
  });
  const more = names.length > MAX_NAMED ? [`+${names.length - MAX_NAMED} more`] : [];
  reply.header(HEADERS.relaxed, [...names.slice(0, MAX_NAMED), ...more].join(', '));
}

function fragment(pointer: string): string {
  return encodeURI(pointer.toWellFormed()).replaceAll(
    /[^\w%~/.$-]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
}
