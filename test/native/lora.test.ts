/** LoRA adapters in the real library: a job has those that it names, whoever decodes beside it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyLora } from '../../tools/models/tiny-lora.ts';
import { logprobsOf, startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
let worker: TestWorker;
let end: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-lora-'));
  const adapters = ['style', 'tone'].map((name) => ({ name, path: join(folder, `${name}.gguf`) }));
  for (const [seed, { path }] of adapters.entries()) await writeTinyLora(path, { seed: seed + 20 });
  ({ worker, end } = await startTinyChat({ numCtx: 512, parallel: 4, draftTokens: 0, adapters }));
});

afterAll(async () => {
  await end();
  await rm(folder, { recursive: true });
});

const text = 'the river keeps its own time and carries leaves past old mills';

const answer = async (...adapters: { name: string; scale: number }[]) => {
  const prompt = { kind: 'text' as const, text };
  return worker.generate({ prompt, maxTokens: 24, topLogprobs: 2, sampling: { temperature: 0 }, adapters });
};

const style = { name: 'style', scale: 1 };
const tone = { name: 'tone', scale: 1 };

describe('LoRA adapters of a job', () => {
  it('change its answer by their scale, and nothing of the next job without them', async () => {
    const plain = await answer();
    const styled = await answer(style);
    const half = await answer({ name: 'style', scale: 0.5 });
    const firsts = [plain, styled, half].map((each) => logprobsOf(each)[0]);
    expect(new Set(firsts).size).toBe(3);
    const again = await answer();
    expect(again.text).toBe(plain.text);
    expect(logprobsOf(again)[0]).toBe(firsts[0]);
  });

  it('keep their KV state apart', async () => {
    await answer(style);
    const toned = await answer(tone);
    expect(toned.done.usage.cachedTokens).toBe(0);
    const again = await answer(tone);
    expect(again.done.usage.cachedTokens).toBeGreaterThan(0);
  });

  it('hold for each of several answers at the same time', async () => {
    const choices = [[], [style], [tone], [style, tone]];
    const alone = [];
    for (const choice of choices) alone.push((await answer(...choice)).text);
    const together = await Promise.all(choices.map((choice) => answer(...choice)));
    expect(together.map((each) => each.text)).toEqual(alone);
  });
});
