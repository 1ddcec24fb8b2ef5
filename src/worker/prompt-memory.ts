/**
 * Finds where a prompt differs from the most similar earlier prompt. Prompts are kept in memory only, bounded, and
 * compared within one trust domain only.
 */
import { SharedMap } from '../lib/base/shared-map.ts';
import { DIFFERENCE_UNITS, type EarlierPrompt } from '../contract/prompt-difference.ts';
import { isRow } from './media/rows.ts';
import type { PreparedChat } from './prepare.ts';
import type { Vocabulary } from './prompt/vocabulary.ts';

interface MemoryLimits {
  readonly prompts: number;
  readonly tokens: number;
}

const MEMORY_LIMITS: MemoryLimits = { prompts: 48, tokens: 2 * 1024 * 1024 };
/** Tokens on each side of a difference that are converted to text. */
const READ_TOKENS = 48;

type Rendered = Pick<PreparedChat, 'job' | 'openingTokens'>;

interface Kept {
  readonly domain: string;
  readonly openingTokens: number;
  /** The prompt, and the answer as soon as it has ended; empty before it is evaluated. */
  readonly tokens: Uint32Array;
}

export class PromptMemory {
  readonly #vocabulary: Pick<Vocabulary, 'tokenBytes' | 'controlText'>;
  readonly #kept: SharedMap<string, Kept>;

  constructor(vocabulary: Pick<Vocabulary, 'tokenBytes' | 'controlText'>, limits = MEMORY_LIMITS) {
    this.#vocabulary = vocabulary;
    this.#kept = new SharedMap({ entries: limits.prompts, size: limits.tokens });
  }

  arrive({ job: { jobId, domain = '' }, openingTokens }: Rendered): void {
    this.#keep(jobId, { domain, openingTokens, tokens: new Uint32Array() });
  }

  begin(jobId: string, prompt: Uint32Array): EarlierPrompt | null {
    const kept = this.#kept.get(jobId);
    if (kept === undefined) return null;
    const earlier = this.#earlier(kept, prompt, jobId);
    this.#keep(jobId, { ...kept, tokens: prompt });
    return earlier;
  }

  end(jobId: string, answer: readonly number[]): void {
    const kept = this.#kept.get(jobId);
    if (kept === undefined) return;
    const tokens = new Uint32Array(kept.tokens.length + answer.length);
    tokens.set(kept.tokens);
    tokens.set(answer, kept.tokens.length);
    this.#keep(jobId, { ...kept, tokens });
  }

  earlier({ job, openingTokens }: Rendered, prompt: Uint32Array): EarlierPrompt | null {
    return this.#earlier({ domain: job.domain ?? '', openingTokens }, prompt, job.jobId);
  }

  #keep(jobId: string, kept: Kept): void {
    this.#kept.set(jobId, kept, { owner: kept.domain, size: kept.tokens.length });
    this.#kept.trim();
  }

  #earlier(
    { domain, openingTokens }: Omit<Kept, 'tokens'>,
    prompt: Uint32Array,
    jobId: string,
  ): EarlierPrompt | null {
    const candidates = [...this.#kept.entries()].flatMap(([id, kept]) =>
      id !== jobId && kept.domain === domain && kept.tokens.length > 0 ? [kept.tokens] : [],
    );
    const alike = mostAlike(candidates, prompt);
    if (alike === null) return null;
    const { common: commonTokens, tokens } = alike;
    // One is the beginning of the other: no difference.
    if (commonTokens >= Math.min(tokens.length, prompt.length - 1)) return { commonTokens };
    // Every conversation begins with what the template writes, so these two share nothing.
    if (commonTokens <= openingTokens) return null;
    const after = [commonTokens, commonTokens + READ_TOKENS] as const;
    const difference = {
      token: commonTokens,
      shared: this.#text(prompt.subarray(Math.max(0, commonTokens - READ_TOKENS), commonTokens), 'end'),
      before: this.#text(tokens.subarray(...after), 'start'),
      now: this.#text(prompt.subarray(...after), 'start'),
    };
    return { commonTokens, difference };
  }

  #text(tokens: Uint32Array, side: 'start' | 'end'): string {
    const bytes = Array.from(tokens, (token, at) => {
      if (isRow(token)) return Buffer.from(isRow(tokens[at - 1] ?? 0) ? '' : '[image]');
      const own = this.#vocabulary.tokenBytes(token);
      // The library call is the most expensive part here, and only a token without text may be a mark.
      return own.length > 0 ? own : Buffer.from(this.#vocabulary.controlText(token) ?? '');
    });
    const text = Buffer.concat(bytes).toString('utf8');
    const cut = side === 'start' ? text.slice(0, DIFFERENCE_UNITS) : text.slice(-DIFFERENCE_UNITS);
    return cut.toWellFormed();
  }
}

function mostAlike(
  earlier: readonly Uint32Array[],
  prompt: Uint32Array,
): { readonly tokens: Uint32Array; readonly common: number } | null {
  let best: { readonly tokens: Uint32Array; readonly common: number } | null = null;
  for (const tokens of earlier.toReversed()) {
    // A prompt that shares more must also match at this index, so most are skipped after one comparison.
    if (best !== null && (best.common >= prompt.length || tokens[best.common] !== prompt[best.common]))
      continue;
    const common = commonTokens(tokens, prompt);
    if (best === null || common > best.common) best = { tokens, common };
  }
  return best;
}

function commonTokens(a: Uint32Array, b: Uint32Array): number {
  const most = Math.min(a.length, b.length);
  let common = 0;
  while (common < most && a[common] === b[common]) common += 1;
  return common;
}
