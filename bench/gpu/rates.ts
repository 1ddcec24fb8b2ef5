/** Decoding and prefill of so many streams that start together, asked over HTTP as any client would. */
import type { Side } from '../client/side.ts';
import { type StreamMeasure, streamChat } from '../client/stream.ts';
import { asking, story, type TextOf } from '../compare/scenario.ts';
import { type Figures, median, perSecond, quantile, sum } from '../statistics.ts';

export interface Load {
  readonly streams: number;
  readonly tokens: number;
  readonly seed: number;
  readonly textOf: TextOf;
  readonly signal: AbortSignal;
}

const SHORT_PROMPT = 30;

export async function decodeRates(side: Side, load: Load): Promise<Figures> {
  const begin = performance.now();
  const all = await together(side, load, (seed) => story(load.textOf(SHORT_PROMPT, seed)), load.tokens);
  const gaps = all.flatMap(({ gapsMs }) => gapsMs);
  return {
    'decode tok/s': steadyRate(all),
    'tok/s with the beginning': perSecond(sum(all.map(({ tokens }) => tokens)), performance.now() - begin),
    ...(gaps.length > 0 && { 'gap p50 ms': median(gaps), 'gap p99 ms': quantile(gaps, 0.99) }),
  };
}

export async function prefillRates(side: Side, load: Load): Promise<Figures> {
  const all = await together(side, load, (seed) => asking(load.textOf(load.tokens, seed)), 1);
  const first = all.map(({ firstTokenMs }) => firstTokenMs);
  const read = sum(all.map(({ promptTokens }) => promptTokens ?? load.tokens));
  return { 'prefill tok/s': perSecond(read, Math.max(...first)), 'first token p50 ms': median(first) };
}

/** Tokens a second of all streams while all of them decode: from the last one's first token to the first one's last. */
export function steadyRate(all: readonly Pick<StreamMeasure, 'arrivalsMs' | 'tokens'>[]): number {
  const from = Math.max(...all.map(({ arrivalsMs }) => arrivalsMs[0] ?? Infinity));
  const to = Math.min(...all.map(({ arrivalsMs }) => arrivalsMs.at(-1) ?? -Infinity));
  const inside = all.map(({ arrivalsMs, tokens }) => {
    const count = arrivalsMs.filter((at) => at > from && at <= to).length;
    return (count * tokens) / Math.max(1, arrivalsMs.length);
  });
  return to > from ? perSecond(sum(inside), to - from) : 0;
}

function together(
  side: Side,
  load: Load,
  ask: (seed: number) => ReturnType<typeof asking>,
  maxTokens: number,
) {
  const { streams, seed, signal } = load;
  return Promise.all(
    Array.from({ length: streams }, (_, at) =>
      streamChat(side, ask(seed * 1000 + at), { maxTokens, signal }),
    ),
  );
}
