/**
 * A prompt as a row of hashed prefixes. Conversations with a common beginning share prefixes, and an upstream that
 * has processed one need not process that part again. Prefixes end where conversations diverge: after the tools,
 * after each turn, and inside a long turn at doubling lengths. The hash only steers: a client that makes two prompts
 * collide sends them to the same upstream and gains nothing.
 */
import type { GenerateJob, Turn } from '../../../../contract/job.ts';
import { toolsText } from '../../../../contract/job-tools.ts';

export interface Prefix {
  readonly hash: number;
  readonly length: number;
}

const FIRST_CUT = 1_024;
/** Separates fields; it occurs in no role and no name. */
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

/** Keeps the first prefixes, which many conversations share, and the last ones, which identify this one. */
function bounded(prefixes: readonly Prefix[], most: number): readonly Prefix[] {
  if (prefixes.length <= most) return prefixes;
  const first = Math.floor(most / 4);
  return [...prefixes.slice(0, first), ...prefixes.slice(prefixes.length - (most - first))];
}

/** Two multiplicative 32-bit hashes, combined to the 53 bits that a number holds exactly. */
class PrefixHasher {
  readonly prefixes: Prefix[] = [];
  #high = 0x811c9dc5;
  #low = 0x9e3779b9;
  #length = 0;

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
