/** The pool over a scripted backend, whose vector of an input is as long as its count of tokens. */
import { describe, expect, it } from 'vitest';
import { scriptedBackend, scriptedSpec } from '../../../test/support/engine/scripted-backend.ts';
import { generateJob, newJobId } from '../../../test/support/engine/jobs.ts';
import type { FromWorker } from '../../contract/ipc.ts';
import type { EmbeddingEvent, JobEvent } from '../../contract/job-event.ts';
import type { EmbedJob } from '../../contract/job.ts';
import { loadEmbedding } from '../load/embedding.ts';
import { Outbox } from '../outbox.ts';
import { EmbedPool } from './embed-pool.ts';

interface PoolOptions {
  readonly numCtx?: number;
  readonly exactVectors?: 'on' | 'off';
  readonly embedding?: (sequence: number) => Float32Array;
}

async function pool({ numCtx = 16, exactVectors = 'off', embedding }: PoolOptions = {}) {
  const { backend, evaluated } = scriptedBackend(() => new Uint8Array());
  const spec = {
    ...scriptedSpec,
    kind: 'embedding',
    numCtx,
    threads: 2,
    settings: { exactVectors },
  } as const;
  const messages: FromWorker[] = [];
  const outbox = new Outbox((message, onSent) => {
    messages.push(message);
    setImmediate(onSent);
  });
  const model = await loadEmbedding(backend, spec, () => undefined);
  if (embedding !== undefined) for (const { context } of model.contexts) context.embedding = embedding;
  const embeds = new EmbedPool(model, outbox);
  const events = (): JobEvent[] =>
    messages.flatMap((message) =>
      message.type === 'events' ? message.events.map(({ event }) => event) : [],
    );
  const vectors = (): EmbeddingEvent[] =>
    events()
      .filter((event) => event.type === 'embedding')
      .sort((a, b) => a.index - b.index);
  const ended = async (): Promise<void> => {
    while (events().at(-1)?.type !== 'embedded') await new Promise((resolve) => setImmediate(resolve));
  };
  return { embeds, model, evaluated, messages, events, vectors, ended };
}

const job = (inputs: string[], truncate = false): EmbedJob => ({
  kind: 'embed',
  jobId: newJobId(),
  inputs,
  truncate,
});

describe('EmbedPool', () => {
  it('computes equal inputs once, all in one step, and gives each its unit vector', async () => {
    const { embeds, evaluated, events, vectors, ended } = await pool();
    embeds.submit(job(['same', 'other one', 'same']));
    await ended();
    expect(evaluated.decodes).toBe(1);
    expect(vectors().map(({ index, tokens }) => [index, tokens])).toEqual([
      [0, 4],
      [1, 9],
      [2, 4],
    ]);
    for (const { vector } of vectors()) expect(vector).toEqual(Float32Array.of(1, 0, 0));
    expect(events().at(-1)).toEqual({ type: 'embedded', totalTokens: 17, computeMs: expect.any(Number) });
  });

  it('computes each input by itself where vectors are to be exact', async () => {
    const { embeds, evaluated, vectors, ended } = await pool({ exactVectors: 'on' });
    embeds.submit(job(['same', 'other one', 'same']));
    await ended();
    expect(evaluated.decodes).toBe(2);
    expect(vectors().map(({ tokens }) => tokens)).toEqual([4, 9, 4]);
  });

  it('refuses an input that is too long, or cuts it when asked', async () => {
    const { embeds, vectors, ended } = await pool({ numCtx: 4 });
    expect(() => embeds.submit(job(['fine', 'too long']))).toThrow(
      expect.objectContaining({ code: 'input_too_long', detail: expect.objectContaining({ index: 1 }) }),
    );
    embeds.submit(job(['too long'], true));
    await ended();
    expect(vectors()).toMatchObject([{ tokens: 4, truncated: true }]);
  });

  it('gives zeros as zeros, and the other inputs their vectors', async () => {
    const embedding = (sequence: number) => Float32Array.of(sequence === 1 ? 0 : 2, 0);
    const { embeds, vectors, ended } = await pool({ embedding });
    embeds.submit(job(['some', 'other']));
    await ended();
    expect(vectors().map(({ vector }) => vector)).toEqual([Float32Array.of(0, 0), Float32Array.of(1, 0)]);
  });

  it('names the input whose vector is not finite', async () => {
    const { embeds, messages } = await pool({
      embedding: (sequence) => Float32Array.of(sequence === 1 ? 1 : Number.NaN, 0),
    });
    const mixed = job(['some', 'other']);
    embeds.submit(mixed);
    const failed = () => messages.find((message) => message.type === 'failed');
    while (failed() === undefined) await new Promise((resolve) => setImmediate(resolve));
    expect(failed()).toMatchObject({ jobId: mixed.jobId, failure: { code: 'internal' } });
    expect(JSON.stringify(failed())).toContain('input 1');
  });

  it('refuses a chat', async () => {
    const { embeds } = await pool();
    expect(() => embeds.submit(generateJob())).toThrow(expect.objectContaining({ code: 'wrong_model_kind' }));
  });

  it('computes no further input of a job that was cancelled', async () => {
    const { embeds, messages, evaluated } = await pool();
    const many = job(Array.from({ length: 50 }, (_, index) => `input ${index}`));
    embeds.submit(many);
    expect(embeds.cancel(many.jobId)).toBe(true);
    expect(embeds.cancel(many.jobId)).toBe(false);
    for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(evaluated.decodes).toBe(0);
    expect(messages).toMatchObject([{ type: 'failed', jobId: many.jobId, failure: { code: 'cancelled' } }]);
  });
});

describe('EmbedPool, vectors with a record', () => {
  const accounting = (inputs: string[]): EmbedJob => ({ ...job(inputs), accounts: true });
  const failureOf = async (messages: readonly FromWorker[], { jobId }: EmbedJob): Promise<unknown> => {
    const found = (): FromWorker | undefined =>
      messages.find((message) => message.type === 'failed' && message.jobId === jobId);
    while (found() === undefined) await new Promise((resolve) => setImmediate(resolve));
    return found();
  };

  it('give an account of how they came about, which others do not', async () => {
    const { embeds, events, vectors, ended } = await pool({ numCtx: 100, exactVectors: 'on' });
    embeds.submit(accounting(['same', 'other', 'same']));
    await ended();
    const [first, second, third] = vectors().map(({ tokensSha256 }) => tokensSha256);
    expect([first === third, first === second]).toEqual([true, false]);
    expect(events().at(-1)).toMatchObject({
      account: { exec: { numCtx: 100, threads: 2, contexts: [{ longest: 63 }, { longest: 100 }] } },
    });
    embeds.submit(job(['plain']));
    while (events().filter(({ type }) => type === 'embedded').length < 2)
      await new Promise((resolve) => setImmediate(resolve));
    expect(events().at(-1)).not.toHaveProperty('account');
  });

  it.each([
    ['a context of the first class that computes beside others', 0, true],
    ['the context of the second class', 1, false],
  ])('are refused where %s computes other bits, and others are computed', async (_, at, isParallel) => {
    const { embeds, model, messages, events, ended } = await pool({ numCtx: 100, exactVectors: 'on' });
    const limits = model.contexts[at];
    const odd = isParallel ? limits?.parallel[0] : limits?.context;
    if (odd === undefined) throw new Error('there is no such context');
    odd.embedding = () => Float32Array.of(0.5, 0.5, 0.5);
    const refused = accounting(['x']);
    embeds.submit(refused);
    expect(await failureOf(messages, refused)).toMatchObject({
      failure: {
        code: 'evidence_unavailable',
        detail: { reason: expect.stringContaining('depends on the threads') },
      },
    });
    embeds.submit(job(['plain']));
    await ended();
    expect(events().at(-1)).not.toHaveProperty('account');
  });

  it('are refused at once where inputs are computed together, and can be cancelled before they are tried', async () => {
    const together = await pool();
    expect(() => together.embeds.submit(accounting(['x']))).toThrow('exact_vectors=auto');
    const { embeds, messages } = await pool({ exactVectors: 'on' });
    const cancelled = accounting(['x']);
    embeds.submit(cancelled);
    expect(embeds.cancel(cancelled.jobId)).toBe(true);
    expect(await failureOf(messages, cancelled)).toMatchObject({ failure: { code: 'cancelled' } });
  });
});

describe('EmbedPool, several inputs at a time', () => {
  /** Steps beside each other end when the test says so; `alone` counts those with all threads. */
  async function held(numCtx = 300) {
    const made = await pool({ numCtx, exactVectors: 'on' });
    const steps: { tokens: number; end: (error?: Error) => void }[] = [];
    const seen = { alone: 0 };
    for (const { context, parallel } of made.model.contexts) {
      context.decodeBatch = () => void (seen.alone += 1);
      for (const each of parallel) {
        let tokens = 0;
        each.initBatch = (count) => {
          tokens = count;
        };
        each.decodeOnThread = () =>
          new Promise((resolve, reject) => {
            const end = (error?: Error): void => (error === undefined ? resolve() : reject(error));
            steps.push({ tokens, end });
          });
      }
    }
    const settled = async (): Promise<void> => {
      for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    return { ...made, steps, seen, settled };
  }

  it('computes as many as there are threads, the longest first, and begins the next one as soon as one has ended', async () => {
    const { embeds, steps, vectors, settled } = await held();
    embeds.submit(job(['a', 'bb', 'ccc', 'dddd']));
    await settled();
    expect(steps.map(({ tokens }) => tokens)).toEqual([4, 3]);
    steps[1]?.end();
    await settled();
    expect(steps.map(({ tokens }) => tokens)).toEqual([4, 3, 2]);
    for (const at of [0, 2]) steps[at]?.end();
    await settled();
    steps[3]?.end();
    await settled();
    expect(vectors().map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  it('begins with an input that arrives while others compute', async () => {
    const { embeds, steps, settled } = await held();
    embeds.submit(job(['a', 'bb']));
    await settled();
    steps[0]?.end();
    await settled();
    embeds.submit(job(['ccc']));
    await settled();
    expect(steps.map(({ tokens }) => tokens)).toEqual([2, 1, 3]);
  });

  it('gives a lone input all threads, and a long one too, once the others have ended', async () => {
    const { embeds, steps, seen, settled } = await held();
    embeds.submit(job(['alone']));
    await settled();
    expect([steps.length, seen.alone]).toEqual([0, 1]);
    embeds.submit(job(['a', 'bb']));
    await settled();
    embeds.submit(job(['x'.repeat(290)]));
    await settled();
    expect([steps.length, seen.alone]).toEqual([2, 1]);
    for (const { end } of steps) end();
    await settled();
    expect([steps.length, seen.alone]).toEqual([2, 2]);
  });

  it('fails the job of a step that failed, and computes the others', async () => {
    const { embeds, steps, messages, settled } = await held();
    const [bad, good] = [job(['a']), job(['bb'])];
    embeds.submit(bad);
    embeds.submit(good);
    await settled();
    steps[0]?.end(new Error('no room'));
    steps[1]?.end();
    await settled();
    expect(messages.find(({ type }) => type === 'failed')).toMatchObject({ jobId: bad.jobId });
    embeds.submit(job(['ccc', 'dddd']));
    await settled();
    expect(steps.map(({ tokens }) => tokens)).toEqual([1, 2, 4, 3]);
  });
});
