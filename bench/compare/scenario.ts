/** What a scenario of `compare` is, and the requests that several of them share. */
import type { Side } from '../client/side.ts';
import { type Message, type StreamMeasure, streamChat } from '../client/stream.ts';
import { type Figures, perSecond } from '../statistics.ts';

/** Text of about so many tokens of the model under test; every other seed shares no long prefix. */
export type TextOf = (tokens: number, seed: number) => string;

export interface Scenario {
  readonly name: string;
  readonly describe: string;
  /** Runs only when named: it needs another model, or one that follows instructions. */
  readonly onlyNamed?: true;
  /** Has no uncounted round before the first: it takes long, and has nothing to warm. */
  readonly cold?: true;
  /** Runs once against one side. `round` varies the text, so that no prompt cache helps where it should not. */
  run(side: Side, round: number, textOf: TextOf): Promise<Figures>;
}

/**
 * What every request adds. Greedy decoding makes a model repeat itself, and a server that guesses from repetition would
 * then be measured by that alone.
 */
export const SAMPLED = '{"temperature":1,"top_k":40,"top_p":1,"min_p":0}';

/** Models that follow instructions, and most that do not, then go on for a while. */
const STORY = 'Write a long story that uses these words:';

export const asking = (content: string): Message[] => [{ role: 'user', content }];
export const story = (words: string): Message[] => asking(`${STORY} ${words}`);

/** Tokens per second of one stream after its first text, as the server counts them. */
export function decodeRate({ arrivalsMs, tokens }: StreamMeasure): number {
  return perSecond(tokens - 1, (arrivalsMs.at(-1) ?? 0) - (arrivalsMs[0] ?? 0));
}

/** Streams texts until the signal, one answer after the other. */
export async function generateUntil(side: Side, until: AbortSignal, textAt: (at: number) => string) {
  for (let at = 0; !until.aborted; at += 1)
    await streamChat(side, story(textAt(at)), { maxTokens: 400, until });
}
