/** Text around a gap, by a vocabulary that has tokens for it, and by one that has none. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
const workers: TestWorker[] = [];

async function loaded(name: string, fillsGaps: boolean): Promise<TestWorker> {
  const path = join(folder, name);
  await writeTinyChat(path, { fillsGaps });
  const worker = await bootWorker();
  workers.push(worker);
  await worker.load({ path, threads: 1 });
  return worker;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-gap-'));
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.end()));
  await rm(folder, { recursive: true });
});

const prompt = { kind: 'text' as const, text: 'The old <|fim_middle|>', suffix: ' is late.' };

it('is put as the model was trained to read it, and answered', async () => {
  const worker = await loaded('fills.gguf', true);
  const { renderedPrompt, promptTokens } = await worker.explain({ prompt });
  expect(renderedPrompt).toBe('<|fim_prefix|>The old <|fim_middle|><|fim_suffix|> is late.<|fim_middle|>');
  // The mark that a client wrote is spelled out; those of the gap are one token each.
  const words = await Promise.all([prompt.text, prompt.suffix].map((text) => worker.tokenize({ text })));
  expect(promptTokens).toBe(words.reduce((sum, { tokens }) => sum + tokens.length, 3));
  const { done } = await worker.generate({ prompt, maxTokens: 4 });
  expect(done.usage.completionTokens).toBeGreaterThan(0);
});

it('is refused by name where the vocabulary has no tokens for it', async () => {
  const worker = await loaded('plain.gguf', false);
  await expect(worker.generate({ prompt })).rejects.toMatchObject({
    code: 'invalid_request',
    detail: { param: 'suffix' },
  });
});
