/** Inputs have the vectors that each has alone, whatever else is asked for, their lengths and the model. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadSettings } from '../../src/contract/settings/shapes.ts';
import { POOLING_TYPE } from '../../packages/gguf/src/format/format.ts';
import { u32 } from '../../tools/gguf/metadata.ts';
import { writeGguf } from '../../tools/gguf/writer.ts';
import { tinyChatContent } from '../../tools/models/tiny-chat.ts';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const BUILT_IN = resolve('models/hearth-embed/model.gguf');

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-together-'));
  await writeTinyEmbed(join(folder, 'encoder.gguf'), { contextLength: 4096 });
  await writeTinyEmbed(join(folder, 'narrow.gguf'), { width: 384 });
  const { metadata, tensors } = tinyChatContent({ contextLength: 4096 });
  await writeGguf(join(folder, 'decoder.gguf'), {
    metadata: { ...metadata, 'llama.pooling_type': u32(POOLING_TYPE.last) },
    tensors,
  });
});

afterAll(() => rm(folder, { recursive: true }));

async function withModel<T>(
  load: { path: string; numCtx: number; settings?: LoadSettings },
  use: (worker: TestWorker) => Promise<T>,
): Promise<T> {
  const worker = await bootWorker();
  try {
    await worker.load({ ...load, kind: 'embedding', threads: 2 });
    return await use(worker);
  } finally {
    await worker.end();
  }
}

const distance = (a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()): number =>
  Math.hypot(...a.map((value, at) => value - (b[at] ?? Number.NaN)));

/** From one word to some hundred tokens. */
const texts = Array.from({ length: 10 }, (_, i) => `text number ${i} ${'and more '.repeat(i * 5)}`);

const TOGETHER = { exactVectors: 'off' } as const;

/** Of all texts in one request, and of each in one of its own. */
async function bothWays(worker: TestWorker) {
  const together = await worker.embed({ inputs: texts });
  const lengths = together.map(({ tokens }) => tokens);
  // Short ones and long ones, on both sides of what decides how an input is computed.
  expect(Math.min(...lengths)).toBeLessThan(32);
  expect(Math.max(...lengths)).toBeGreaterThan(90);
  const alone = [];
  for (const text of texts) alone.push(...(await worker.embed({ inputs: [text] })));
  return { together, alone };
}

describe('inputs', () => {
  it.each([
    ['an encoder', () => join(folder, 'encoder.gguf'), 4096],
    ['a decoder that pools its last token', () => join(folder, 'decoder.gguf'), 4096],
    ['the built-in model', () => BUILT_IN, 512],
  ])('of %s have the same bits alone and in company', async (_, path, numCtx) => {
    await withModel({ path: path(), numCtx }, async (worker) => {
      const { together, alone } = await bothWays(worker);
      expect(together.map(({ vector }) => vector)).toEqual(alone.map(({ vector }) => vector));
      expect(distance(together[0]?.vector, together.at(-1)?.vector)).toBeGreaterThan(1e-3);
    });
  });

  it('of two requests at a time have them too', async () => {
    await withModel({ path: BUILT_IN, numCtx: 512 }, async (worker) => {
      const [forward, backward] = await Promise.all([
        worker.embed({ inputs: texts }),
        worker.embed({ inputs: texts.toReversed() }),
      ]);
      expect(backward.map(({ vector }) => vector)).toEqual(forward.map(({ vector }) => vector).toReversed());
    });
  });

  it.each([
    ['an encoder', () => join(folder, 'encoder.gguf'), 4096, 1e-5],
    ['a decoder that pools its last token', () => join(folder, 'decoder.gguf'), 4096, 1e-5],
    // Its layers are quantised, and so are the numbers between them: a cosine of 0.9998.
    ['the built-in model', () => BUILT_IN, 512, 2e-2],
  ])('of %s computed together have nearly the same vectors', async (_, path, numCtx, bound) => {
    await withModel({ path: path(), numCtx, settings: TOGETHER }, async (worker) => {
      const { together, alone } = await bothWays(worker);
      for (const [index, { vector }] of together.entries())
        expect(distance(vector, alone[index]?.vector), `input ${index}`).toBeLessThan(bound);
      expect(distance(together[0]?.vector, together.at(-1)?.vector)).toBeGreaterThan(2 * bound);
    });
  });

  it.each([
    ['each in a step of its own', {}, 12],
    ['in one step where they may be computed together', TOGETHER, 1],
  ])('are computed %s', async (_, settings, steps) => {
    await withModel({ path: join(folder, 'encoder.gguf'), numCtx: 4096, settings }, async (worker) => {
      const before = await worker.steps();
      await worker.embed({ inputs: Array.from({ length: 12 }, (_, i) => `the time ${i}`) });
      expect((await worker.steps()) - before).toBe(steps);
    });
  });

  it('may be as long as the window, alone and in company', async () => {
    const load = { path: join(folder, 'encoder.gguf'), numCtx: 3000, settings: TOGETHER };
    await withModel(load, async (worker) => {
      const long = 'the time '.repeat(3000);
      const [short, cut] = await worker.embed({ inputs: ['short', long], truncate: true });
      const [alone] = await worker.embed({ inputs: [long], truncate: true });
      expect([short?.truncated, cut?.tokens]).toEqual([false, 3000]);
      expect(distance(cut?.vector, alone?.vector)).toBeLessThan(1e-5);
    });
  });
});

describe('an embedding model', () => {
  it.each([9, 63, 64, 100, 129, 511])('loads in a window of %d tokens', async (numCtx) => {
    await withModel({ path: join(folder, 'encoder.gguf'), numCtx }, async (worker) => {
      const [vector] = await worker.embed({ inputs: ['the time '.repeat(600)], truncate: true });
      expect(vector?.tokens).toBe(numCtx);
    });
  });

  it('gives vectors of its own width', async () => {
    await withModel({ path: join(folder, 'narrow.gguf'), numCtx: 512 }, async (worker) => {
      const [item] = await worker.embed({ inputs: ['a small house'] });
      expect(item?.vector).toHaveLength(384);
      expect(Math.hypot(...(item?.vector ?? []))).toBeCloseTo(1, 5);
    });
  });
});
