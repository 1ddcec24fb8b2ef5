/**
 * worker/explain owns why a prompt had to be evaluated: what the prompts before it were, and where it parts from the one most
 * like it. It knows nothing of KV state, sequences or tiers. What it keeps is in memory only, bounded, and told within
 * one trust domain only.
 */
import { SharedMap } from '../../lib/base/recent/shared-map.ts';
import type { Turn } from '../../contract/job.ts';
import type { EarlierPrompt } from '../../contract/prompt-difference.ts';
import { differenceOf, mostAlike, type SeenPrompt } from '../../lib/prompt-cache/difference.ts';
import type { PromptMessage, PromptWords } from '../../lib/prompt-cache/parts.ts';
import type { PreparedChat } from '../prepare.ts';
import { pieceText } from '../prompt/prompt.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

export interface MemoryLimits {
  readonly prompts: number;
  /** Of all prompts together, their conversations included. */
  readonly units: number;
}

export const MEMORY_LIMITS: MemoryLimits = { prompts: 48, units: 8 * 1024 * 1024 };

/** What is asked of a request. */
export type Rendered = Pick<PreparedChat, 'job' | 'pieces' | 'model'>;

interface Kept {
  readonly domain: string;
  readonly text: string;
  readonly words: PromptWords;
  readonly thinking: SeenPrompt['thinking'];
  readonly units: number;
  /** The prompt, and the answer as soon as it has ended; empty before it is evaluated. */
  tokens: Uint32Array;
  /** How many of them are the prompt. */
  length: number;
}

export class PromptMemory {
  readonly #vocabulary: Pick<Vocabulary, 'bytesOf' | 'controlTextOf'>;
  /** By the id of the job. */
  readonly #kept: SharedMap<string, Kept>;

  constructor(vocabulary: Pick<Vocabulary, 'bytesOf' | 'controlTextOf'>, limits = MEMORY_LIMITS) {
    this.#vocabulary = vocabulary;
    this.#kept = new SharedMap({ entries: limits.prompts, size: limits.units });
  }

  /** A request was rendered; what is kept of it may have to go before it begins. */
  arrive(rendered: Rendered): void {
    const kept = keptOf(rendered);
    this.#kept.set(rendered.job.jobId, kept, { owner: kept.domain, size: kept.units });
    this.#kept.trim();
  }

  /** Its prompt is evaluated from now on; tells what `earlier` does. */
  begin(jobId: string, prompt: Uint32Array): EarlierPrompt | null {
    const kept = this.#kept.get(jobId);
    if (kept === undefined) return null;
    const earlier = this.#earlier(kept, prompt);
    kept.tokens = prompt;
    kept.length = prompt.length;
    return earlier;
  }

  /** The answer was over, or broken off, after these tokens. */
  end(jobId: string, answer: readonly number[]): void {
    const kept = this.#kept.get(jobId);
    if (kept === undefined) return;
    const tokens = new Uint32Array(kept.length + answer.length);
    tokens.set(kept.tokens.subarray(0, kept.length));
    tokens.set(answer, kept.length);
    kept.tokens = tokens;
  }

  /** The earlier prompt that is most like this one; null where there is none. */
  earlier(rendered: Rendered, prompt: Uint32Array): EarlierPrompt | null {
    return this.#earlier(keptOf(rendered), prompt);
  }

  #earlier(now: Kept, prompt: Uint32Array): EarlierPrompt | null {
    const earlier = [...this.#kept.entries()]
      .map(([, kept]) => kept)
      .filter((kept) => kept !== now && kept.domain === now.domain && kept.tokens.length > 0);
    const alike = mostAlike(earlier, prompt);
    if (alike === null) return null;
    const { common: commonTokens, prompt: before } = alike;
    const difference = differenceOf(
      this.#seen(before),
      this.#seen({ ...now, tokens: prompt, length: prompt.length }),
    );
    return { commonTokens, ...(difference === null ? {} : { difference }) };
  }

  #seen({ text, words, thinking, tokens, length }: Kept): SeenPrompt {
    const say = (from: number, to: number): string => this.#say(tokens.subarray(Math.max(0, from), to));
    let whole: string | null = null;
    return {
      tokens,
      // Most prompts go on where the one before ended, and then nobody reads it.
      get text() {
        whole ??= text + say(length, tokens.length);
        return whole;
      },
      words,
      thinking,
      say,
    };
  }

  #say(tokens: Uint32Array): string {
    const bytes = Array.from(tokens, (token) => {
      const own = this.#vocabulary.bytesOf(token);
      // Asking the library costs more than all else here, and only what stands for no text may be a mark.
      return own.length > 0 ? own : Buffer.from(this.#vocabulary.controlTextOf(token) ?? '');
    });
    return Buffer.concat(bytes).toString('utf8');
  }
}

function keptOf({ job, pieces, model }: Rendered): Kept {
  const { prompt, tools, domain = '' } = job;
  const messages = prompt.kind === 'chat' ? prompt.turns.map(wordsOf) : [];
  const text = pieceText(pieces);
  return {
    domain,
    text,
    words: { messages, tools: tools.map(({ name }) => ({ name })) },
    thinking: model.thinking,
    units: messages.reduce((sum, message) => sum + unitsOf(message), text.length),
    tokens: new Uint32Array(),
    length: 0,
  };
}

const wordsOf = ({ role, content, reasoning, toolCalls }: Turn): PromptMessage => ({
  role,
  content,
  reasoning,
  toolCalls,
});

const unitsOf = ({ content, reasoning = '', toolCalls = [] }: PromptMessage): number =>
  toolCalls.reduce((sum, call) => sum + call.argumentsJson.length, content.length + reasoning.length);
