/** Settings of a load in a real worker: what they change, and what they must not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadSpec } from '../../src/contract/load.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { bootWorker, logprobsOf, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
let model: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'hearth-settings-'));
  model = path.join(folder, 'tiny.gguf');
  // Keys of 32 numbers, so that they can be quantised.
  await writeTinyChat(model);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function withWorker<T>(
  settings: LoadSpec['settings'],
  use: (worker: TestWorker) => Promise<T>,
): Promise<T> {
  const worker = await bootWorker();
  try {
    await worker.load({ path: model, numCtx: 1024, settings });
    return await use(worker);
  } finally {
    await worker.end();
  }
}

const frozenDigest = async (worker: TestWorker): Promise<string | undefined> => {
  const { done } = await worker.generate({
    sampling: { temperature: 0, seed: 7 },
    templateClockMs: 1_790_000_000_000,
    lane: 'frozen',
  });
  return done.frozen?.output.traceSha256;
};

describe('mode frozen-v1', () => {
  it('computes the same bits whatever the types of the KV cache and flash attention are set to', async () => {
    const digests = await Promise.all(
      [{}, { kvType: 'bf16' }, { kvTypeK: 'f32', flashAttention: 'off' }].map((settings) =>
        withWorker(settings as LoadSpec['settings'], frozenDigest),
      ),
    );
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(digests).size).toBe(1);
  });

  it('is refused where the file is not mapped, because a replay maps it', async () => {
    await withWorker({ loadMode: 'none' }, async (worker) => {
      await expect(frozenDigest(worker)).rejects.toMatchObject({
        code: 'evidence_unavailable',
        message: expect.stringContaining('load_mode'),
      });
    });
  });
});

describe('a setting that this machine cannot apply', () => {
  it.each([
    [{ gpu: ['Vulkan9'] }, 'gpu'],
    [{ overrideTensors: [{ pattern: 'ffn', buffer: 'Vulkan9' }] }, 'override_tensors'],
  ])('%j fails the load, with its name and what there is', async (settings, wire) => {
    const loaded = withWorker(settings, async () => undefined);
    await expect(loaded).rejects.toMatchObject({
      code: 'load_setting_unusable',
      message: expect.stringMatching(new RegExp(`with ${wire} as it is set .*CPU`)),
    });
  });
});

describe('positions', () => {
  it('that are scaled give other answers, and none that could be proved', async () => {
    const logprobs = async (settings: LoadSpec['settings']): Promise<number[]> =>
      withWorker(settings, async (worker) => {
        const answer = await worker.generate({ sampling: { temperature: 0 }, maxTokens: 1, topLogprobs: 1 });
        return logprobsOf(answer);
      });
    const usual = await logprobs({});
    expect(await logprobs({})).toEqual(usual);
    expect(await logprobs({ ropeFreqScale: 0.1 })).not.toEqual(usual);
    await withWorker({ ropeFreqBase: 100 }, async (worker) => {
      await expect(frozenDigest(worker)).rejects.toMatchObject({ code: 'evidence_unavailable' });
    });
  });
});

describe('the KV cache', () => {
  it('takes twice the memory in f32', async () => {
    const bytesWith = async (settings: LoadSpec['settings']): Promise<number> => {
      const worker = await bootWorker();
      try {
        return (await worker.load({ path: model, numCtx: 1024, settings })).contextBytes;
      } finally {
        await worker.end();
      }
    };
    const [usual, large] = [await bytesWith({}), await bytesWith({ kvType: 'f32' })];
    // Two bytes each for 16 numbers of a key and 16 of a value, of 2 heads in 2 layers, in 4 windows of 1,024.
    expect(large - usual).toBeGreaterThan(256 * 4 * 1024 * 0.9);
  });
});
