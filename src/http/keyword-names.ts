/** The headers that name keywords of schemas, X-Svc-Relaxed and X-Svc-Narrowed. */
import type { FastifyReply } from 'fastify';
import type { Relaxation } from '../api/chat/relaxations.ts';
import { HEADERS } from '../wire/headers.ts';

/** Keywords that a header names; how many more there are is said behind them. */
const MAX_NAMED = 24;
const MAX_NAME_CHARS = 120;

export function nameKeywords(reply: FastifyReply, header: string, keywords: readonly Relaxation[]): void {
  if (keywords.length > 0) setNames(reply, header, { names: keywords.map(nameOf), unnamed: 0 });
}

/** Beside the keywords that were known before the engine took the conversation. */
export function nameUnheld(reply: FastifyReply, unheld: readonly Relaxation[] = []): void {
  if (unheld.length === 0) return;
  const known = String(reply.getHeader(HEADERS.relaxed) ?? '')
    .split(', ')
    .filter((name) => name !== '');
  const named = known.filter((name) => !name.startsWith('+'));
  const unnamed = Number.parseInt(known.find((name) => name.startsWith('+')) ?? '0', 10);
  const names = [...new Set([...named, ...unheld.map(nameOf)])];
  setNames(reply, HEADERS.relaxed, { names, unnamed });
}

interface Names {
  readonly names: readonly string[];
  /** Keywords that have no name here. */
  readonly unnamed: number;
}

function setNames(reply: FastifyReply, header: string, { names, unnamed }: Names): void {
  const more = unnamed + Math.max(0, names.length - MAX_NAMED);
  reply.header(header, [...names.slice(0, MAX_NAMED), ...(more > 0 ? [`+${more} more`] : [])].join(', '));
}

/** `tool#/pointer/keyword`, the pointer as a URI fragment has it. */
function nameOf({ tool, pointer, keyword }: Relaxation): string {
  const step = keyword.replaceAll('~', '~0').replaceAll('/', '~1');
  return `${tool ?? ''}#${fragment(`${pointer}/${step}`)}`.slice(0, MAX_NAME_CHARS);
}

function fragment(pointer: string): string {
  return encodeURI(pointer.toWellFormed()).replaceAll(
    /[^\w%~/.$-]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
}
