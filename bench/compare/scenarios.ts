/** What `compare` measures. A scenario runs once against one side and returns named figures, each from fresh text. */
import { type Message, postJson, type Side, streamChat } from '../client.ts';
import { median, quantile } from '../statistics.ts';
import { text } from '../words.ts';

/** Text of about so many tokens of the model under test; every other seed shares no long prefix. */
export type TextOf = (tokens: number, seed: number) => string;

export interface Scenario {
  readonly name: string;
  readonly describe: string;
  /** `round` varies the text, so that no prompt cache helps where it should not. */
  run(side: Side, round: number, textOf: TextOf): Promise<Readonly<Record<string, number>>>;
}

const ask = (content: string): Message[] => [{ role: 'user', content }];
const perSecond = (tokens: number, ms: number) => (tokens * 1000) / ms;

const decode: Scenario = {
  name: 'decode',
  describe: 'one stream, about 30 prompt tokens, 64 tokens',
  run: async (side, round, textOf) => {
    const measure = await streamChat(side, ask(textOf(30, round)), { maxTokens: 64 });
    return {
      'decode tok/s': perSecond(measure.gapsMs.length, sum(measure.gapsMs)),
      'first token ms': measure.firstTokenMs,
    };
  },
};

const prefill: Scenario = {
  name: 'prefill',
  describe: 'one stream, about 500 prompt tokens, 4 tokens',
  run: async (side, round, textOf) => {
    const measure = await streamChat(side, ask(textOf(500, 1000 + round)), { maxTokens: 4 });
    return { 'first token ms': measure.firstTokenMs };
  },
};

function concurrency(streams: number): Scenario {
  return {
    name: `concurrency-${streams}`,
    describe: `${streams} streams started together, 48 tokens each`,
    run: async (side, round, textOf) => {
      const begin = performance.now();
      const all = await Promise.all(
        Array.from({ length: streams }, (_, at) =>
          streamChat(side, ask(textOf(30, round * 100 + at)), { maxTokens: 48 }),
        ),
      );
      const tokens = sum(all.map((measure) => measure.tokens));
      return { 'tok/s together': perSecond(tokens, performance.now() - begin) };
    },
  };
}

const prefix: Scenario = {
  name: 'prefix',
  describe: 'a conversation of 8 turns, re-sent in full; first token of turns 2 to 8',
  run: async (side, round, textOf) => {
    const messages: Message[] = [{ role: 'system', content: textOf(150, 2000 + round) }];
    const later: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      messages.push({ role: 'user', content: textOf(25, round * 50 + turn) });
      const measure = await streamChat(side, messages, { maxTokens: 16 });
      messages.push({ role: 'assistant', content: measure.text });
      if (turn > 0) later.push(measure.firstTokenMs);
    }
    return { 'later turns first token ms': median(later) };
  },
};

const mixed: Scenario = {
  name: 'mixed',
  describe: 'a prompt of about 1500 tokens arrives while another stream decodes',
  run: async (side, round, textOf) => {
    const stop = new AbortController();
    let second: Promise<{ firstTokenMs: number }> | undefined;
    const first = streamChat(side, ask(textOf(30, round)), {
      maxTokens: 400,
      signal: stop.signal,
      onToken: (count) => {
        if (count === 10) second = streamChat(side, ask(textOf(1500, 5000 + round)), { maxTokens: 2 });
      },
    });
    const measure = await first;
    const other = await second;
    if (!other) throw new Error('the first stream ended before the second request was sent');
    return { 'longest gap ms': Math.max(...measure.gapsMs), 'second first token ms': other.firstTokenMs };
  },
};

const embedMany: Scenario = {
  name: 'embed-batch',
  describe: '64 inputs of about 36 tokens in one call',
  run: async (side, round) => {
    const input = Array.from({ length: 64 }, (_, at) => text(30, round * 1000 + at));
    const { ms } = await postJson(side, '/v1/embeddings', { input, encoding_format: 'float' });
    return { 'inputs/s': perSecond(64, ms) };
  },
};

const embedSingle: Scenario = {
  name: 'embed-single',
  describe: '64 calls of one short input',
  run: async (side, round) => {
    const begin = performance.now();
    for (let at = 0; at < 64; at += 1)
      await postJson(side, '/v1/embeddings', { input: text(6, round * 1000 + at) });
    return { 'inputs/s': perSecond(64, performance.now() - begin) };
  },
};

const oneToken: Scenario = {
  name: 'one-token',
  describe: '200 requests of one token, one after the other',
  run: async (side, round) => {
    const times: number[] = [];
    for (let at = 0; at < 200; at += 1) {
      const body = { messages: ask(text(4, round * 1000 + at)), max_tokens: 1, temperature: 0 };
      times.push((await postJson(side, '/v1/chat/completions', body)).ms);
    }
    return { 'p50 ms': median(times), 'p99 ms': quantile(times, 0.99) };
  },
};

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export const scenarios: readonly Scenario[] = [
  decode,
  prefill,
  concurrency(2),
  concurrency(4),
  concurrency(8),
  prefix,
  mixed,
  embedMany,
  embedSingle,
  oneToken,
];
