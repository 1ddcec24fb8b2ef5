/**
 * What the service adds to the worker's own time: 1-token answers of the tiny model, minus the prefill and decode that
 * the answer reports; and /health while a generation runs.
 */
import { ask } from './client/ask.ts';
import type { Side } from './client/side.ts';
import { streamChat } from './client/stream.ts';
import { serve } from './served.ts';
import { quantile, rounded } from './statistics.ts';
import { text } from './words.ts';

interface Answer {
  readonly timings: { readonly prompt_ms: number; readonly predicted_ms: number };
}

const HEALTH_SAMPLES = 1_000;

export async function overhead(): Promise<void> {
  const served = await serve(18_760);
  const side: Side = { name: 'hearth', url: served.url, model: 'default' };
  try {
    await oneToken(side, 20);
    report('added latency of a 1-token answer', await oneToken(side, 400));
    report('/health while a generation runs', await healthUnderLoad(side));
  } finally {
    await served.close();
  }
}

async function oneToken(side: Side, count: number): Promise<number[]> {
  const added: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const messages = [{ role: 'user', content: text(4, at) }];
    const body = { model: side.model, messages, max_tokens: 1, temperature: 0 };
    const { ms, answer } = await ask(`${side.url}/v1/chat/completions`, body);
    const { timings } = JSON.parse(answer) as Answer;
    added.push(ms - timings.prompt_ms - timings.predicted_ms);
  }
  return added;
}

async function healthUnderLoad(side: Side): Promise<number[]> {
  const enough = new AbortController();
  const asked = async (): Promise<number[]> => {
    const times: number[] = [];
    while (times.length < HEALTH_SAMPLES) times.push((await ask(`${side.url}/health`)).ms);
    return times;
  };
  const [times] = await Promise.all([
    asked().finally(() => enough.abort()),
    generateUntil(side, enough.signal),
  ]);
  return times;
}

/** One answer after the other: the tiny model ends its own after a few tokens. */
async function generateUntil(side: Side, until: AbortSignal): Promise<void> {
  for (let seed = 0; !until.aborted; seed += 1)
    await streamChat(side, [{ role: 'user', content: text(20, seed) }], { maxTokens: 1000, until });
}

function report(name: string, samples: readonly number[]): void {
  const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)].map(rounded);
  console.log(`${name}: p50 ${p50} ms, p99 ${p99} ms of ${samples.length}`);
}
