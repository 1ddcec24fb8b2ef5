/**
 * bench/agents owns what agents ask of the service beside a model: the dialects beside chat completions, request by
 * request in turn; what many tools cost at their second request, stage by stage; and /health beside such requests. It
 * does not know how good a model is.
 */
import { Agent } from 'node:http';
import { ask } from '../client/ask.ts';
import { Refusal } from '../client/side.ts';
import { serve } from '../served.ts';
import { median, quantile, rounded } from '../statistics.ts';
import { text } from '../words.ts';
import { reportStages } from './stages.ts';
import { toolSet } from './tool-set.ts';

const PORT = 18_764;
const ROUNDS = 400;
const TOOLS = 80;
const BURST = 100;
const AGENTS = 4;

/** `--vocabulary FILE --template FILE`: of a real family, for the stages of the worker. */
export async function agents(argv: readonly string[]): Promise<void> {
  const option = (name: string): string | undefined => argv[argv.indexOf(name) + 1 || argv.length];
  const served = await serve(PORT);
  try {
    await dialects(served.url);
    await healthBeside(served.url);
  } finally {
    await served.close();
  }
  await reportStages(toolSet(TOOLS, 0), {
    vocabulary: option('--vocabulary'),
    template: option('--template'),
  });
}

type Ask = (words: string) => readonly [path: string, body: object];
const LIMIT = { model: 'default', temperature: 0 };

const DIALECTS: Readonly<Record<string, Ask>> = {
  'chat completions': (content) => [
    '/v1/chat/completions',
    { ...LIMIT, max_tokens: 1, messages: [{ role: 'user', content }] },
  ],
  Messages: (content) => ['/v1/messages', { ...LIMIT, max_tokens: 1, messages: [{ role: 'user', content }] }],
  Responses: (input) => ['/v1/responses', { ...LIMIT, max_output_tokens: 1, input, store: false }],
  'Responses, stored': (input) => ['/v1/responses', { ...LIMIT, max_output_tokens: 1, input }],
};

/** Every round asks each dialect once, in an order that turns; prompts of one length, none of which was sent before. */
async function dialects(url: string): Promise<void> {
  const names = Object.keys(DIALECTS);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = -20; round < ROUNDS; round += 1) {
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round + names.length * 20) % names.length] ?? '';
      const [path, body] = DIALECTS[name]?.(text(4, round * names.length + at)) ?? ['', {}];
      const { ms } = await ask(url + path, body);
      if (round >= 0) times.get(name)?.push(ms);
    }
  }
  const [chat = []] = times.values();
  console.log(`one token by chat completions: p50 ${rounded(median(chat))} ms of ${chat.length}`);
  for (const [name, all] of [...times].slice(1)) {
    const added = all.map((ms, round) => ms - (chat[round] ?? 0));
    console.log(
      `${name}: p50 ${rounded(median(all))} ms; beside chat completions p50 ${rounded(median(added))} ms,` +
        ` quarters ${rounded(quantile(added, 0.25))} and ${rounded(quantile(added, 0.75))}`,
    );
  }
}

/** /health every few milliseconds, and the longest stretch of the server's event loop, while requests with tools come. */
async function healthBeside(url: string): Promise<void> {
  const known = await measured(url, () => 1);
  report('/health beside 100 requests with the same 80 tools', known);
  let seed = 1;
  const fresh = await measured(url, () => (seed += 1));
  report('/health beside 100 requests with 80 tools that nobody sent before', fresh);
}

interface Beside {
  readonly health: readonly number[];
  readonly requests: readonly number[];
  /** Longest stretch of the event loop, milliseconds. */
  readonly stretchMs: number;
}

async function measured(url: string, seedOf: () => number): Promise<Beside> {
  // Written before: this process also asks for /health.
  const bodies = Array.from({ length: BURST }, () => bodyOf(seedOf()));
  await withTools(url, bodyOf(0));
  await longestStretch(url);
  const enough = new AbortController();
  const [requests, health] = await Promise.all([
    burst(url, bodies).finally(() => enough.abort()),
    healthUntil(url, enough.signal),
  ]);
  return { health, requests, stretchMs: await longestStretch(url) };
}

/** Several agents at a time, so that some job is always open: the loop is watched only then. */
async function burst(url: string, bodies: readonly object[]): Promise<number[]> {
  const agent = async (first: number): Promise<number[]> => {
    const via = new Agent({ keepAlive: true, maxSockets: 1 });
    const times: number[] = [];
    for (let at = first; at < bodies.length; at += AGENTS)
      times.push(await withTools(url, bodies[at] ?? {}, via));
    via.destroy();
    return times;
  };
  return (await Promise.all(Array.from({ length: AGENTS }, (_, first) => agent(first)))).flat();
}

function bodyOf(seed: number): object {
  const messages = [{ role: 'user', content: 'Hello' }];
  return { ...LIMIT, max_tokens: 1, messages, tools: toolSet(TOOLS, seed) };
}

/** The built-in model has no room for so many tools: what is measured ends with the refusal that counts their tokens. */
async function withTools(url: string, body: object, via?: Agent): Promise<number> {
  const begin = performance.now();
  try {
    return (await ask(`${url}/v1/chat/completions`, body, via)).ms;
  } catch (error) {
    if (!(error instanceof Refusal) || !error.message.includes('context')) throw error;
    return performance.now() - begin;
  }
}

async function healthUntil(url: string, until: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  const via = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!until.aborted) {
    times.push((await ask(`${url}/health`, undefined, via)).ms);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  via.destroy();
  return times;
}

/** Since it was last asked for. */
async function longestStretch(url: string): Promise<number> {
  const { answer } = await ask(`${url}/metrics`);
  const [, seconds = 'NaN'] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(answer) ?? [];
  return Number(seconds) * 1000;
}

function report(what: string, { health, requests, stretchMs }: Beside): void {
  console.log(
    `${what}: p50 ${rounded(median(health))} ms, p99 ${rounded(quantile(health, 0.99))}, max ${rounded(quantile(health, 1))}` +
      ` of ${health.length}; longest stretch of the loop ${rounded(stretchMs)} ms; a request p50 ${rounded(median(requests))} ms`,
  );
}
