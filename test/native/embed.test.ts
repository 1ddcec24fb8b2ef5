import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newJobId } from '../support/engine/jobs.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';

let folder: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-embed-'));
  await writeTinyEmbed(join(folder, 'embed.gguf'));
  worker = await bootWorker();
  await worker.load({ path: join(folder, 'embed.gguf'), kind: 'embedding', threads: 2 });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

describe('embed', () => {
  it('gives one unit vector of 768 numbers per input, in any order of index', async () => {
    const events = await worker.embed({ inputs: ['a small house', 'the time', 'x'] });
    expect(events.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const { vector } of events) {
      expect(vector).toBeInstanceOf(Float32Array);
      expect(vector).toHaveLength(768);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    }
  });

  it('gives the same vector alone and in company, to the bit', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `text number ${i} ${'and more '.repeat(i)}`);
    const together = await worker.embed({ inputs: texts });
    for (const index of [0, 7, 39]) {
      const [alone] = await worker.embed({ inputs: [texts[index] ?? ''] });
      expect(alone?.vector).toEqual(together[index]?.vector);
    }
  });

  it('computes identical inputs once, and reports each', async () => {
    const before = await worker.steps();
    const events = await worker.embed({ inputs: ['same', 'other', 'same', 'same'] });
    expect((await worker.steps()) - before).toBe(2);
    expect(events).toHaveLength(4);
    expect(events[2]?.vector).toEqual(events[0]?.vector);
    expect(events[1]?.vector).not.toEqual(events[0]?.vector);
  });

  it('refuses an over-long input with index and counts before anything is computed', async () => {
    const inputs = ['short', 'the time '.repeat(600)];
    const failure = await worker.embed({ inputs }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'input_too_long',
      detail: { index: 1, limit: 512, param: 'input[1]' },
    });
  });

  it('cuts an over-long input to the limit when asked, and flags it', async () => {
    const [short, long] = await worker.embed({ inputs: ['short', 'the time '.repeat(600)], truncate: true });
    expect(short?.truncated).toBe(false);
    expect(long).toMatchObject({ truncated: true, tokens: 512 });
  });

  it('stops a cancelled job between inputs', async () => {
    const jobId = newJobId();
    const inputs = Array.from({ length: 2000 }, (_, i) => `text number ${i} ${'and more words '.repeat(20)}`);
    const events = worker.run({ kind: 'embed', jobId, inputs, truncate: true });
    await events.next();
    const before = await worker.steps();
    worker.cancel(jobId);
    const failure = await drain(events).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'cancelled' });
    await worker.embed({ inputs: ['next'] });
    expect((await worker.steps()) - before).toBeLessThan(1000);
  });
});

async function drain(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of events) count += 1;
  return count;
}
