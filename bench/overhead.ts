/**
 * What the service adds to the worker's own time: 1-token answers of the tiny model, minus the prefill and decode that
 * the answer reports; and /health while a generation runs.
 */
import { postJson, type Side, streamChat } from './client.ts';
import { serve } from './served.ts';
import { quantile, rounded } from './statistics.ts';
import { text } from './words.ts';

interface Answer {
  readonly timings: { readonly prompt_ms: number; readonly predicted_ms: number };
}

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
    const { ms, body } = await postJson(side, '/v1/chat/completions', {
      messages,
      max_tokens: 1,
      temperature: 0,
    });
    const { timings } = body as Answer;
    added.push(ms - timings.prompt_ms - timings.predicted_ms);
  }
  return added;
}

async function healthUnderLoad(side: Side): Promise<number[]> {
  const times: number[] = [];
  const stop = new AbortController();
  const generation = streamChat(side, [{ role: 'user', content: text(20, 1) }], { maxTokens: 1000 });
  void generation.then(
    () => stop.abort(),
    () => stop.abort(),
  );
  while (!stop.signal.aborted && times.length < 5000) {
    const begin = performance.now();
    await (await fetch(`${side.url}/health`)).arrayBuffer();
    times.push(performance.now() - begin);
  }
  await generation;
  return times;
}

function report(name: string, samples: readonly number[]): void {
  const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)].map(rounded);
  console.log(`${name}: p50 ${p50} ms, p99 ${p99} ms of ${samples.length}`);
}
