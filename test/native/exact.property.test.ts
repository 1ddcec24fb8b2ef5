/**
 * An exact load gives each request the answer of a lone cold run, bit for bit: beside others, in any order of arrival,
 * whatever is cancelled, cached, evicted or restored, with other slots and threads, after a kill. Log probabilities of
 * twenty tokens a step stand for the logits: they change with any bit of the largest ones and of the sum over all.
 * SVC_LONG_TESTS=1 runs a thousand rounds of hearth-mini, and 50 of each kind of memory; EXACT_MODEL names another file,
 * EXACT_ROUNDS how many rounds.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { LoadSpec } from '../../src/contract/load.ts';
import { seededRandom } from '../../tools/gguf/random.ts';
import { type LargeType, writeLarge } from '../../tools/models/large.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import {
  writeTinyExperts,
  writeTinyHybrid,
  writeTinyRecurrent,
  writeTinySlidingWindow,
} from '../../tools/models/tiny-variants.ts';
import { generateJob } from '../support/engine/jobs.ts';
import {
  type Answer,
  bootWorker,
  collect,
  logprobsOf,
  type TestWorker,
} from '../support/engine/worker-harness.ts';

const isLong = process.env['SVC_LONG_TESTS'] === '1';
const given = process.env['EXACT_MODEL'];
const ROUNDS = Number(process.env['EXACT_ROUNDS'] ?? 0);
const KIND = `${'c'.repeat(16)}-${'d'.repeat(32)}`;
const MIB = 1024 * 1024;
const NUM_CTX = 1024;

interface Kind {
  readonly name: string;
  readonly rounds: number;
  readonly settings?: LoadSpec['settings'];
  /** Writes the model to the path, or says where it lies. */
  at(path: string): Promise<string>;
}

const written =
  (write: (path: string) => Promise<unknown>) =>
  async (path: string): Promise<string> => {
    await write(path);
    return path;
  };

/** Wide enough that one row in a thousand does not round to the same bits by chance. */
const wide =
  (type: LargeType) =>
  (path: string): Promise<number> =>
    writeLarge(path, { layers: 2, vocabularySize: 1024, type, contextLength: NUM_CTX });

/** Of prompts, tokens: a tile or a micro-batch more and less. */
const LENGTHS = [1, 2, 3, 63, 64, 65, 66, 127, 128, 129, 130, 193, 257, 385];

const KINDS: readonly Kind[] =
  given === undefined
    ? [
        {
          name: 'hearth-mini',
          rounds: isLong ? 1_000 : 12,
          at: async () => resolve('models/hearth-mini/model.gguf'),
        },
        { name: 'float weights', rounds: isLong ? 50 : 6, at: written(wide('F16')) },
        { name: 'weights with panels', rounds: isLong ? 50 : 4, at: written(wide('IQ4_XS')) },
        {
          name: 'quantised keys',
          rounds: isLong ? 50 : 4,
          at: written(writeTinyChat),
          settings: { kvTypeK: 'q8_0' },
        },
        { name: 'a sliding window', rounds: isLong ? 50 : 6, at: written(writeTinySlidingWindow) },
        { name: 'a recurrent state', rounds: isLong ? 50 : 6, at: written(writeTinyRecurrent) },
        { name: 'a hybrid', rounds: isLong ? 50 : 6, at: written(writeTinyHybrid) },
        { name: 'experts', rounds: isLong ? 50 : 6, at: written(writeTinyExperts) },
      ]
    : [{ name: given, rounds: ROUNDS, at: async () => given }];

interface Request {
  /** A text, or tokens as they are. */
  readonly text: string | readonly number[];
  readonly maxTokens: number;
  readonly temperature: number;
  /** Its prompt is scored too, from this token on. */
  readonly scoredFrom?: number;
}

const WORDS =
  'the sea is calm and a small boat waits for morning while gulls cry over the old stone pier'.split(' ');
const random = seededRandom(Number(process.env['EXACT_SEED'] ?? 45));
const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
const words = (count: number): string => Array.from({ length: count }, () => pick(WORDS)).join(' ');

/** Equal for answers whose tokens, texts and log probabilities are. */
function digest(answer: Answer): string {
  return createHash('sha256')
    .update(JSON.stringify([answer.text, answer.done.finishReason]))
    .update(new Float64Array(logprobsOf(answer)))
    .update(new Float64Array(promptScoresOf(answer)))
    .digest('hex');
}

function promptScoresOf({ events }: Answer): number[] {
  const tokens = events.flatMap((event) => (event.type === 'prompt_tokens' ? event.tokens : []));
  return tokens.flatMap(({ id, score }) => [
    id,
    score?.logprob ?? 1,
    ...(score?.top ?? []).map(({ logprob }) => logprob),
  ]);
}

const jobOf = ({ text, maxTokens, temperature, scoredFrom }: Request, domain: string): GenerateJob =>
  generateJob({
    prompt: typeof text === 'string' ? { kind: 'text', text } : { kind: 'tokens', tokens: [...text] },
    maxTokens,
    sampling: { temperature, seed: 7 },
    topLogprobs: 20,
    ...(scoredFrom === undefined ? {} : { scoredPrompt: { top: 20, from: scoredFrom } }),
    domain,
  });

/** Answers of lone cold runs: one slot, one thread, no cache, and nobody else's state. */
class References {
  readonly #worker: TestWorker;
  readonly #known = new Map<string, Promise<Answer>>();
  #asked = 0;

  constructor(worker: TestWorker) {
    this.#worker = worker;
  }

  answer(request: Request): Promise<Answer> {
    const key = JSON.stringify(request);
    const known = this.#known.get(key) ?? collect(this.#worker.run(jobOf(request, `d${(this.#asked += 1)}`)));
    this.#known.set(key, known);
    return known;
  }
}

interface Asked {
  readonly request: Request;
  readonly answer: string;
  /** Ids of the answer's tokens, as far as they are told. */
  readonly tokens: readonly number[];
}

/** Prompts that begin alike, of any length, and some that continue earlier answers. */
class Requests {
  readonly #asked: Asked[] = [];
  readonly #beginnings = [words(20), words(60), words(100), 'the', ''];

  next(): Request {
    const request = this.#unscored();
    if (random.below(2) === 0) return request;
    // Its first token, or one somewhere in the prompt, or behind it.
    return {
      ...request,
      maxTokens: pick([0, request.maxTokens]),
      scoredFrom: pick([0, 0, random.below(60)]),
    };
  }

  #unscored(): Request {
    const kind = random.below(4);
    // The very same again, of which all but the least is in the cache.
    if (kind === 0 && this.#asked.length > 0) return pick(this.#asked.slice(-6)).request;
    if (kind === 1) return random.below(2) === 0 ? this.#ofLength(pick(LENGTHS)) : this.#continued();
    return this.#inWords();
  }

  /** Behind the very tokens of an earlier answer, whose state came row by row. */
  #continued(): Request {
    const inTokens = this.#asked.filter(
      ({ request, tokens }) => typeof request.text !== 'string' && tokens.length > 1,
    );
    const earlier = inTokens.at(-1 - random.below(Math.max(1, Math.min(4, inTokens.length))));
    if (earlier === undefined) return this.#ofLength(66);
    const before = earlier.request.text as readonly number[];
    const tail = Array.from({ length: 1 + random.below(5) }, () => 3 + random.below(99));
    const text = [...before, ...earlier.tokens, ...tail].slice(0, 400);
    return { text, maxTokens: 2 + random.below(8), temperature: 0 };
  }

  /** Tokens that begin alike, around the borders of tiles and micro-batches. */
  #ofLength(length: number): Request {
    const shared = Math.min(length, random.below(length + 1));
    const text = Array.from(
      { length },
      (_, at) => 3 + ((at * 7 + (at < shared ? 0 : random.below(99))) % 200),
    );
    return { text, maxTokens: 1 + random.below(8), temperature: 0 };
  }

  #inWords(): Request {
    const spoken = this.#asked.filter(({ request }) => typeof request.text === 'string').slice(-12);
    const earlier = pick([null, ...spoken]);
    const text =
      earlier === null
        ? `${pick(this.#beginnings)} ${words(random.below(60))}`
        : `${earlier.request.text}${pick([earlier.answer, earlier.answer, ''])} ${words(random.below(9))}`;
    const kept = text.length > 900 ? words(3) : text;
    return {
      text: kept === ' ' ? 'a' : kept,
      maxTokens: 1 + random.below(20),
      temperature: pick([0, 0, 0.9]),
    };
  }

  answered(asked: Asked): void {
    this.#asked.push(asked);
  }
}

describe('an exact load', { timeout: isLong || given !== undefined ? 6 * 3_600_000 : 600_000 }, () => {
  it.each(KINDS)('answers like a lone cold run: $name', async ({ rounds, at, settings = {} }) => {
    const home = await mkdtemp(join(tmpdir(), 'hearth-exact-'));
    const path = await at(join(home, 'model.gguf'));
    const start = async (load: Partial<LoadSpec>): Promise<TestWorker> => {
      const worker = await bootWorker();
      await worker.load({ path, numCtx: NUM_CTX, ...load, settings: { ...settings, exact: 'on' } });
      return worker;
    };
    const lone = await start({ parallel: 1, threads: 1 });
    const references = new References(lone);
    const requests = new Requests();
    const busy = (): Promise<TestWorker> => {
      const disk = { folder: join(home, 'cache'), bytes: 16 * MIB, kind: KIND, secret: 'd'.repeat(64) };
      const promptCache = { ramBytes: pick([0, 4 * MIB]), disk };
      return start({ parallel: 1 + random.below(6), threads: pick([1, 2, null]), promptCache });
    };
    let worker = await busy();
    const seen = { compared: 0, scored: 0, cached: 0, restored: 0, evicted: 0, cancelled: 0, kills: 0 };
    const ask = async (request: Request): Promise<void> => {
      const job = jobOf(request, 'one');
      const isCancelled = random.below(6) === 0;
      const stopsAt = random.below(4);
      const events: Answer['events'][number][] = [];
      try {
        for await (const event of worker.run(job)) {
          events.push(event);
          if (isCancelled && events.length > stopsAt && event.type !== 'done') worker.cancel(job.jobId);
        }
      } catch (error) {
        if (!isCancelled) throw error;
        seen.cancelled += 1;
        return;
      }
      const answer = await collect(toAsync(events));
      const expected = await references.answer(request);
      expect(digest(answer), JSON.stringify({ request, usage: answer.done })).toBe(digest(expected));
      seen.compared += 1;
      if (promptScoresOf(answer).length > 0) seen.scored += 1;
      if (answer.done.usage.cachedTokens > 0) seen.cached += 1;
      if ((answer.done.cache?.diskTokens ?? 0) + (answer.done.cache?.ramTokens ?? 0) > 0) seen.restored += 1;
      // Its beginning was held once, and another prompt took the place.
      if (answer.done.cache?.miss?.reason === 'evicted') seen.evicted += 1;
      const tokens = answer.events
        .flatMap((event) => (event.type === 'text' ? (event.tokens ?? []) : []))
        .flatMap(({ chosen: { id } }) => id ?? []);
      requests.answered({ request, answer: answer.text, tokens });
    };
    for (let round = 0; round < rounds; round += 1) {
      const open: Promise<void>[] = [];
      for (let count = 1 + random.below(7); count > 0; count -= 1) {
        open.push(ask(requests.next()));
        // Some come together, some while others are under way, some after them.
        if (random.below(3) === 0) await worker.steps();
        if (random.below(4) === 0) await Promise.race(open);
      }
      await Promise.all(open);
      if (round % 4 !== 3) continue;
      if (random.below(2) === 0) await worker.save();
      if (random.below(2) === 0) await worker.kill();
      else await worker.end();
      seen.kills += 1;
      worker = await busy();
    }
    process.stdout.write(`${JSON.stringify(seen)}\n`);
    expect(seen.compared).toBeGreaterThan(rounds);
    expect(seen.scored).toBeGreaterThan(0);
    expect(seen.cached).toBeGreaterThan(0);
    await worker.end();
    await lone.end();
    await rm(home, { recursive: true });
  });
});

describe('state of a sliding window', () => {
  it('gives the logits of a cold run where it is cut, and where the worker was killed', async () => {
    const home = await mkdtemp(join(tmpdir(), 'hearth-exact-window-'));
    const path = join(home, 'model.gguf');
    await writeTinySlidingWindow(path);
    const disk = { folder: join(home, 'cache'), bytes: 16 * MIB, kind: KIND, secret: 'd'.repeat(64) };
    const start = async (load: Partial<LoadSpec>): Promise<TestWorker> => {
      const worker = await bootWorker();
      await worker.load({ path, numCtx: NUM_CTX, ...load, settings: { exact: 'on' } });
      return worker;
    };
    const tokens = (count: number): number[] =>
      Array.from({ length: count }, (_, at) => 3 + ((at * 7) % 200));
    const request = (text: number[], maxTokens: number): Request => ({ text, maxTokens, temperature: 0 });
    const lone = await start({ parallel: 1, threads: 1 });
    let worker = await start({ promptCache: { ramBytes: 0, disk } });
    let asks = 0;
    const same = async (text: number[]): Promise<Answer> => {
      const asked = request(text, 40);
      const answer = await collect(worker.run(jobOf(asked, 'one')));
      asks += 1;
      expect(digest(answer)).toBe(digest(await collect(lone.run(jobOf(asked, `d${asks}`)))));
      return answer;
    };
    // Found by chance: behind a state that lies in other cells, its tenth token has other logits.
    const continued = [...tokens(401), 4, 9, 11, 401];
    for (const length of [161, 401, 961]) await same(tokens(length));
    expect((await same(continued)).done.usage.cachedTokens).toBe(401);
    await same(tokens(961));
    for (const tail of [401, 400, 399, 398])
      expect((await same([...tokens(161), 4, 9, 11, tail])).done.usage.cachedTokens).toBeGreaterThan(160);
    await same(tokens(401));
    await worker.save();
    await worker.kill();
    worker = await start({ promptCache: { ramBytes: 0, disk } });
    await same(continued);
    await worker.end();
    await lone.end();
    await rm(home, { recursive: true });
  });
});

async function* toAsync<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
