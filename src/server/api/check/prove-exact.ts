/**
 * Tests exact=on for a model on this machine: answers in every situation that must not matter, each compared with the
 * same request run alone and cold. Uses workers of its own.
 */
import { createHash } from 'node:crypto';
import type { GenerateJob } from '../../../contract/job.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import { collectEvents } from '../../engine/collect.ts';
import type { LocalBackend } from '../../engine/local/local-backend.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import type { LoadedModel } from '../../engine/ports.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';
import { checkJob } from './check-job.ts';

export interface ExactProof {
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
  readonly situations: readonly Situation[];
  readonly left: readonly string[];
}

interface Situation {
  readonly name: string;
  readonly equal: number;
  readonly compared: number;
  readonly cachedTokens: number;
}

export interface ProofOptions {
  readonly worker: WorkerSettings;
  readonly target: LocalTarget;
  readonly cores: number;
  readonly withinMs: number;
  readonly signal: AbortSignal;
  readonly onSituation?: (name: string) => void;
}

const SLOTS = 4;
const NUM_CTX = 2048;
const ANSWER_TOKENS = 16;
/** Log probabilities of a step: they change with any bit of the largest logits and of the sum over all. */
const TOP_LOGPROBS = 20;

const story = (times: number): string =>
  'The lamp in the harbour burns all night, and three boats wait for the tide. '.repeat(times);

/** Prompts of several lengths with a common beginning, greedy and sampled. */
const REQUESTS: readonly Pick<GenerateJob, 'prompt' | 'sampling'>[] = [
  { text: 'Name three rivers.', temperature: 0 },
  { text: `${story(2)}What do the boats wait for?`, temperature: 0 },
  { text: `${story(2)}Tell it again in your own words.`, temperature: 0.9 },
  { text: `${story(9)}Who lights the lamp?`, temperature: 0 },
].map(({ text, temperature }) => ({
  prompt: { kind: 'chat', turns: [{ role: 'user', content: text }] },
  sampling: { temperature, seed: 7 },
}));

interface Answered {
  readonly digest: string;
  readonly tokens: number;
  readonly cachedTokens: number;
}

export async function proveExact(options: ProofOptions): Promise<ExactProof> {
  const { worker, target, signal, withinMs, onSituation } = options;
  const end = performance.now() + withinMs;
  const backend = startOwnWorker(worker);
  const lab = new Lab(backend, options);
  try {
    onSituation?.('a lone cold run');
    await lab.load({ slots: 1, threads: 1 });
    const alone: Answered[] = [];
    for (const at of REQUESTS.keys()) alone.push(await lab.ask(at, `cold-${at}`));
    const situations: Situation[] = [];
    const left: string[] = [];
    for (const [name, run] of SITUATIONS) {
      signal.throwIfAborted();
      if (performance.now() > end) {
        left.push(name);
        continue;
      }
      onSituation?.(name);
      const answers = await run(lab);
      situations.push({
        name,
        compared: answers.length,
        equal: answers.filter(({ at, digest }) => digest === alone[at]?.digest).length,
        cachedTokens: answers.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0),
      });
    }
    const tokens = alone.reduce((sum, answer) => sum + answer.tokens, 0);
    return { model: target.modelId, requests: REQUESTS.length, tokens, situations, left };
  } finally {
    await backend.close();
  }
}

type Compared = Answered & { readonly at: number };

/** The order matters: each continues with the worker and the cache of the one before. */
const SITUATIONS: readonly (readonly [name: string, run: (lab: Lab) => Promise<Compared[]>])[] = [
  ['alone, with the prompt cache', (lab) => lab.oneByOne('shared')],
  [
    'all at once, in four slots',
    async (lab) => {
      await lab.load({ slots: SLOTS, threads: 1 });
      return lab.together([0, 1, 2, 3]);
    },
  ],
  [
    'after kill -9, with another number of threads',
    async (lab) => {
      lab.kill();
      await lab.load({ slots: SLOTS, threads: lab.cores });
      return lab.together([2, 3, 0, 1]);
    },
  ],
  ['at once in another order, with the prompt cache', (lab) => lab.together([3, 1, 0, 2])],
  ['beside requests that are cancelled', (lab) => lab.withCancelled()],
];

class Lab {
  readonly cores: number;
  readonly #backend: LocalBackend;
  readonly #options: ProofOptions;
  #model: LoadedModel | null = null;
  #jobs = 0;

  constructor(backend: LocalBackend, options: ProofOptions) {
    this.cores = options.cores;
    this.#backend = backend;
    this.#options = options;
  }

  async load({ slots, threads }: { readonly slots: number; readonly threads: number }): Promise<void> {
    await this.#model?.unload();
    const { target, signal } = this.#options;
    const numCtx = Math.min(NUM_CTX, target.trainedCtx);
    const pinned = { ...target, source: { ...target.source, threads } };
    this.#model = await this.#backend.load(pinned, { numCtx, slots, cells: numCtx * slots }, signal);
  }

  kill(): void {
    const pid = this.#model?.facts.details?.['pid'];
    if (pid === undefined) throw new Error('the worker has no process');
    process.kill(pid, 'SIGKILL');
  }

  async ask(at: number, domain = 'shared', signal = this.#options.signal): Promise<Compared> {
    const model = this.#model;
    if (model === null) throw new Error('no model is loaded');
    this.#jobs += 1;
    const request = REQUESTS[at];
    const job = checkJob(`exact-${this.#jobs}`, {
      prompt: { kind: 'text', text: '' },
      ...request,
      maxTokens: ANSWER_TOKENS,
      topLogprobs: TOP_LOGPROBS,
      domain,
    });
    return { at, ...answered(await collectEvents((listener) => model.run(job, signal, listener))) };
  }

  async oneByOne(domain: string): Promise<Compared[]> {
    const all: Compared[] = [];
    for (const at of [...REQUESTS.keys(), ...REQUESTS.keys()]) all.push(await this.ask(at, domain));
    return all;
  }

  together(order: readonly number[]): Promise<Compared[]> {
    return Promise.all(order.map((at) => this.ask(at)));
  }

  async withCancelled(): Promise<Compared[]> {
    const stop = new AbortController();
    const cancelled = [3, 0].map((at) => this.ask(at, 'other', stop.signal).catch(() => null));
    const answers = this.together([1, 2]);
    const first = await this.ask(0);
    stop.abort();
    await Promise.all(cancelled);
    return [first, ...(await answers)];
  }
}

function answered(events: readonly JobEvent[]): Answered {
  const hash = createHash('sha256');
  let tokens = 0;
  let cachedTokens = 0;
  for (const event of events) {
    if (event.type === 'text') hash.update(event.text);
    if (event.type === 'done') {
      hash.update(event.finishReason);
      ({ cachedTokens, completionTokens: tokens } = event.usage);
    }
    if (event.type !== 'text') continue;
    for (const { chosen, top } of event.tokens ?? [])
      hash.update(new Float64Array([chosen, ...top].map(({ logprob }) => logprob)));
  }
  return { digest: hash.digest('hex'), tokens, cachedTokens };
}
