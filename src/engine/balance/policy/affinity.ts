/**
 * A prompt as a row of prefixes, each with its hash: two conversations that begin alike share the prefixes they begin
 * with, and an upstream that has read one of them need not read that part again. Prefixes end where conversations
 * part: after the tools, after each turn, and inside a long turn at doubling lengths.
 * The hash only steers: whoever makes two prompts collide sends them to the same upstream, and gains nothing by it.
 */
import type { GenerateJob, Turn } from '../../../contract/job.ts';
import { toolsText } from '../../../contract/job-tools.ts';

export interface Prefix {
  readonly hash: number;
  /** Characters of the prompt up to its end. */
  readonly length: number;
}

const FIRST_CUT = 1_024;
/** Separates what must not run together; it occurs in no role and no name. */
const MARK = '\u0000';

export function hashPrefixes({ prompt, tools }: GenerateJob, most: number): readonly Prefix[] {
  const hasher = new PrefixHasher();
  if (tools.length > 0) hasher.add(toolsText(tools));
  if (prompt.kind === 'text') hasher.add(prompt.text);
  else if (prompt.kind === 'tokens') hasher.add(prompt.tokens.join(' '));
  else if (prompt.kind === 'mixed')
    for (const part of prompt.parts) hasher.add(typeof part === 'string' ? part : part.join(' '));
  else for (const turn of prompt.turns) hasher.add(turnText(turn));
  return bounded(hasher.prefixes, most);
}

export function sessionHash(session: string): number {
  const hasher = new PrefixHasher();
  hasher.add(`${MARK}session${MARK}${session}`);
  return hasher.prefixes.at(-1)?.hash ?? 0;
}

function turnText({ role, name, content, reasoning, toolCalls, toolCallId }: Turn): string {
  const calls = (toolCalls ?? []).flatMap((call) => [call.name, call.argumentsJson]);
  return [role, name ?? '', toolCallId ?? '', reasoning ?? '', ...calls, content].join(MARK);
}

/** The first say what is shared by many conversations, the last what is one conversation's own. */
function bounded(prefixes: readonly Prefix[], most: number): readonly Prefix[] {
  if (prefixes.length <= most) return prefixes;
  const first = Math.floor(most / 4);
  return [...prefixes.slice(0, first), ...prefixes.slice(prefixes.length - (most - first))];
}

/** Two multiplicative hashes of 32 bits side by side; together they are as wide as a number is exact. */
class PrefixHasher {
  readonly prefixes: Prefix[] = [];
  #high = 0x811c9dc5;
  #low = 0x9e3779b9;
  #length = 0;

  /** Takes a piece in; its end is a prefix, and so are its first 1,024 characters, the first 2,048, and so on. */
  add(piece: string): void {
    let from = 0;
    for (let cut = FIRST_CUT; cut < piece.length; cut *= 2) {
      this.#take(piece, from, cut);
      this.#note();
      from = cut;
    }
    this.#take(piece, from, piece.length);
    this.#take(MARK, 0, 1);
    this.#note();
  }

  #take(piece: string, from: number, to: number): void {
    let high = this.#high;
    let low = this.#low;
    for (let at = from; at < to; at += 1) {
      const unit = piece.charCodeAt(at);
      high = Math.imul(high ^ unit, 0x01000193);
      low = Math.imul(low ^ unit, 0x85ebca6b) ^ (low >>> 13);
    }
    this.#high = high;
    this.#low = low;
    this.#length += to - from;
  }

  #note(): void {
    const mixed = Math.imul(this.#high ^ (this.#high >>> 15), 0xc2b2ae35) ^ this.#low;
    const hash = (mixed >>> 0) * 2 ** 21 + (this.#low >>> 11);
    this.prefixes.push({ hash, length: this.#length });
  }
}
