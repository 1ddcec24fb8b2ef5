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
  return { embeds, evaluated, messages, events, vectors, ended };
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
    expect(events().at(-1)).toEqual({ type: 'embedded', totalTokens: 17 });
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
