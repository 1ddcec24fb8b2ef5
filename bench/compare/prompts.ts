/** Scenarios of evaluating prompts: long ones, resent ones, and one beside a stream. */
import { type Message, type StreamMeasure, streamChat } from '../client/stream.ts';
import { median, perSecond, spread } from '../statistics.ts';
import { asking, decodeRate, type Scenario, story } from './scenario.ts';

function prefill(tokens: number, cold?: true): Scenario {
  return {
    name: `prefill-${tokens}`,
    describe: `one prompt of about ${tokens} tokens, 1 token`,
    ...(cold && { cold }),
    run: async (side, round, textOf) => {
      const { firstTokenMs, promptTokens } = await streamChat(side, asking(textOf(tokens, 1000 + round)), {
        maxTokens: 1,
      });
      return {
        'prompt tok/s': perSecond(promptTokens ?? tokens, firstTokenMs),
        'first token ms': firstTokenMs,
      };
    },
  };
}

const prefix: Scenario = {
  name: 'prefix',
  describe: 'a conversation of 8 turns, resent in full; first token of turns 2 to 8',
  run: async (side, round, textOf) => {
    const messages: Message[] = [{ role: 'system', content: textOf(150, 2000 + round) }];
    const later: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      messages.push({ role: 'user', content: textOf(25, round * 50 + turn) });
      const measure = await streamChat(side, messages, { maxTokens: 16 });
      messages.push({ role: 'assistant', content: measure.text });
      if (turn > 0) later.push(measure.firstTokenMs);
    }
    return {
      'later turns first token p50 ms': median(later),
      'later turns first token max ms': Math.max(...later),
    };
  },
};

const mixed: Scenario = {
  name: 'mixed',
  describe: 'a prompt of about 1500 tokens arrives while another stream decodes',
  run: async (side, round, textOf) => {
    const answered = new AbortController();
    let second: Promise<StreamMeasure> | undefined;
    const arrive = (): void => {
      second = streamChat(side, asking(textOf(1500, 5000 + round)), { maxTokens: 2 });
      void second.finally(() => answered.abort()).catch(() => undefined);
    };
    const first = await streamChat(side, story(textOf(30, round)), {
      maxTokens: 400,
      until: answered.signal,
      onToken: (count) => {
        if (count === 10) arrive();
      },
    });
    const other = await second;
    if (!other) throw new Error('the first stream ended before the second request was sent');
    return {
      'longest gap ms': Math.max(...first.gapsMs),
      'second first token ms': other.firstTokenMs,
      ...spread('gap', 'ms', first.gapsMs),
    };
  },
};

const IDLE_CONVERSATIONS = 4;

const besideIdle: Scenario = {
  name: 'beside-idle',
  describe: `one stream of 64 tokens, behind a prompt of about 300, while ${IDLE_CONVERSATIONS} conversations of about 1,500 are idle`,
  onlyNamed: true,
  run: async (side, round, textOf) => {
    for (let at = 0; at < IDLE_CONVERSATIONS; at += 1)
      await streamChat(side, asking(textOf(1_500, 3_000 + round * 10 + at)), { maxTokens: 1 });
    const measure = await streamChat(side, story(textOf(300, 4_000 + round)), { maxTokens: 64 });
    return { 'decode tok/s': decodeRate(measure), 'first token ms': measure.firstTokenMs };
  },
};

const DEEP_ANSWERS = 3;

const deep: Scenario = {
  name: 'deep',
  describe: `${DEEP_ANSWERS} answers of 128 tokens, each behind the same prompt of about 3,000`,
  onlyNamed: true,
  cold: true,
  run: async (side, round, textOf) => {
    const prompt = story(textOf(3_000, 6_000 + round));
    const measures: StreamMeasure[] = [];
    for (let at = 0; at < DEEP_ANSWERS; at += 1)
      measures.push(await streamChat(side, prompt, { maxTokens: 128 }));
    const [first, ...later] = measures;
    if (first === undefined) throw new Error('nothing was asked');
    return {
      'first answer tok/s': decodeRate(first),
      'later answers tok/s': median(later.map(decodeRate)),
      'longest gap ms': Math.max(...measures.flatMap(({ gapsMs }) => gapsMs)),
      'all ms': measures.reduce((sum, { totalMs }) => sum + totalMs, 0),
    };
  },
};

export const promptScenarios: readonly Scenario[] = [
  prefill(512),
  prefill(4096, true),
  prefix,
  mixed,
  besideIdle,
  deep,
];
