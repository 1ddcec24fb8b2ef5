/** Single questions to the service. */
import { post, type Side } from '../client/side.ts';
import { asking } from '../compare/scenario.ts';
import { text } from '../words.ts';

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
  readonly timings?: { readonly predicted_per_second?: number };
}

export interface Asked {
  readonly ms: number;
  readonly content: string;
  readonly tokensPerSecond: number | null;
}

export async function askOnce(
  side: Side,
  { words, seed, tokens, signal }: { words: number; seed: number; tokens: number; signal: AbortSignal },
): Promise<Asked> {
  const begin = performance.now();
  const body = { model: side.model, messages: asking(text(words, seed)), max_tokens: tokens, ...side.extra };
  const response = await post(side, '/v1/chat/completions', body, signal);
  const { choices, timings } = (await response.json()) as Answer;
  return {
    ms: performance.now() - begin,
    content: choices[0]?.message.content ?? '',
    tokensPerSecond: timings?.predicted_per_second ?? null,
  };
}

/** What it said, or the error that it answered with. */
export async function outcomeOf(asked: Promise<Asked>): Promise<string> {
  try {
    const { ms, tokensPerSecond } = await asked;
    const speed = tokensPerSecond === null ? '' : `, ${tokensPerSecond.toFixed(1)} tok/s`;
    return `answered in ${Math.round(ms)} ms${speed}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
