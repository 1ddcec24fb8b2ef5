/** Scenarios of short requests, where the server counts more than the model. */
import { setTimeout } from 'node:timers/promises';
import { ask } from '../client/ask.ts';
import { postJson, type Side } from '../client/side.ts';
import { perSecond, spread } from '../statistics.ts';
import { text } from '../words.ts';
import { asking, generateUntil, type Scenario } from './scenario.ts';

const HEALTH_STREAMS = 4;
const HEALTH_SAMPLES = 300;
/** Asked as a probe would, not as fast as possible, which would be a load of its own. */
const HEALTH_PAUSE_MS = 10;

const health: Scenario = {
  name: 'health',
  describe: 'GET /health, 300 times, while 4 streams decode',
  run: async (side, round, textOf) => {
    const enough = new AbortController();
    const streams = Array.from({ length: HEALTH_STREAMS }, (_, stream) =>
      generateUntil(side, enough.signal, (at) => textOf(30, round * 1000 + stream * 100 + at)),
    );
    // A stream that fails ends the asking, and is what the scenario then fails with.
    const [times] = await Promise.all([
      askHealth(side, enough.signal).finally(() => enough.abort()),
      Promise.all(streams).finally(() => enough.abort()),
    ]);
    return spread('health', 'ms', times);
  },
};

async function askHealth(side: Side, until: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  while (times.length < HEALTH_SAMPLES && !until.aborted) {
    times.push((await ask(`${side.url}/health`)).ms);
    await setTimeout(HEALTH_PAUSE_MS);
  }
  return times;
}

const oneToken: Scenario = {
  name: 'one-token',
  describe: '200 requests of one token, one after the other',
  run: async (side, round) => {
    const times: number[] = [];
    for (let at = 0; at < 200; at += 1) {
      const body = {
        model: side.model,
        messages: asking(text(4, round * 1000 + at)),
        max_tokens: 1,
        temperature: 0,
        ...side.extra,
      };
      times.push((await ask(`${side.url}/v1/chat/completions`, body)).ms);
    }
    return spread('whole answer', 'ms', times);
  },
};

const embedMany: Scenario = {
  name: 'embed-batch',
  describe: '64 inputs of about 36 tokens in one call',
  onlyNamed: true,
  run: async (side, round) => {
    const input = Array.from({ length: 64 }, (_, at) => text(30, round * 1000 + at));
    const { ms } = await postJson(side, '/v1/embeddings', { input, encoding_format: 'float' });
    return { 'inputs/s': perSecond(64, ms) };
  },
};

const embedSingle: Scenario = {
  name: 'embed-single',
  describe: '64 calls of one short input',
  onlyNamed: true,
  run: async (side, round) => {
    const begin = performance.now();
    for (let at = 0; at < 64; at += 1)
      await postJson(side, '/v1/embeddings', { input: text(6, round * 1000 + at) });
    return { 'inputs/s': perSecond(64, performance.now() - begin) };
  },
};

export const requestScenarios: readonly Scenario[] = [health, oneToken, embedMany, embedSingle];
