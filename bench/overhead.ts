/**
 * What the service adds to the worker's own time: 1-token answers of the tiny model, minus the prefill and decode that
 * the answer reports; and /health while a generation runs.
 */
import http from 'node:http';
import { type Side, streamChat } from './client.ts';
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
    const body = { model: side.model, messages, max_tokens: 1, temperature: 0 };
    const { ms, answer } = await ask(`${side.url}/v1/chat/completions`, body);
    const { timings } = JSON.parse(answer) as Answer;
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
  while (!stop.signal.aborted && times.length < 5000) times.push((await ask(`${side.url}/health`)).ms);

  await generation;
  return times;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** One request over a kept connection; node:http, because fetch alone costs about a millisecond. */
function ask(url: string, body?: object): Promise<{ ms: number; answer: string }> {
  const begin = performance.now();
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { agent, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          answer += part;
        });
        response.on('end', () => resolve({ ms: performance.now() - begin, answer }));
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

function report(name: string, samples: readonly number[]): void {
  const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)].map(rounded);
  console.log(`${name}: p50 ${p50} ms, p99 ${p99} ms of ${samples.length}`);
}
