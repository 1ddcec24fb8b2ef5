/**
 * A worker is killed at any moment of saving and restoring, again and again, over one folder whose files are damaged in
 * between: every answer is the one that a worker without a cache gives. SVC_LONG_TESTS=1: a thousand kills and 200 files.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { LoadSpec } from '../../src/contract/load.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const isLong = process.env['SVC_LONG_TESTS'] === '1';
const kills = isLong ? 1_000 : 6;
const damagedFiles = isLong ? 200 : 3;
const KIND = `${'c'.repeat(16)}-${'c'.repeat(32)}`;
const MIB = 1024 * 1024;

/** State is restored whole, and part by part where sequences share their cells. */
const LOADS: readonly Partial<LoadSpec>[] = [{}, { parallel: 2, cells: 1024 }];

const prompts = ['the sea', 'a small house', 'the time'].map((what) =>
  `tell me about ${what} and what it was like `.repeat(14),
);

it('no kill and no damaged file changes an answer', {
  timeout: isLong ? 6 * 3_600_000 : 600_000,
}, async () => {
  const home = await mkdtemp(join(tmpdir(), 'hearth-cache-crashes-'));
  const model = join(home, 'tiny.gguf');
  await writeTinyChat(model);
  const start = async (isCached: boolean, load: Partial<LoadSpec> = {}): Promise<TestWorker> => {
    const worker = await bootWorker();
    const disk = { folder: join(home, 'cache'), bytes: 4 * MIB, kind: KIND, secret: 'd'.repeat(64) };
    const promptCache = { ramBytes: 8 * MIB, disk: isCached ? disk : null };
    await worker.load({ path: model, numCtx: 1024, parallel: 1, ...load, ...(isCached && { promptCache }) });
    return worker;
  };
  const ask = async (worker: TestWorker, text: string) => {
    const sampling = { temperature: 0, seed: 1 };
    return worker.generate({ prompt: { kind: 'text', text }, maxTokens: 8, sampling });
  };

  const plain = await start(false);
  const expected: string[] = [];
  for (const prompt of prompts) expected.push((await ask(plain, prompt)).text);
  await plain.end();

  let restored = 0;
  let damaged = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const worker = await start(true, LOADS[kill % LOADS.length]);
    for (const [at, prompt] of prompts.entries()) {
      const { text, done } = await ask(worker, prompt);
      expect(text, `prompt ${at} after ${kill} kills`).toBe(expected[at]);
      if ((done.cache?.diskTokens ?? 0) > 0) restored += 1;
    }
    // In the middle of a save, or of a save beside a restore.
    if (kill % 3 > 0) void worker.save();
    if (kill % 3 === 2) void ask(worker, prompts[0] ?? '').catch(() => undefined);
    if (kill % 3 === 0) await worker.save();
    else await setTimeout(randomInt(40));
    await worker.kill();
    if (damaged < damagedFiles) damaged += await damageOne(join(home, 'cache', KIND));
    if (isLong && (kill + 1) % 50 === 0)
      process.stdout.write(`${kill + 1} kills, ${damaged} damaged files, ${restored} prompts restored\n`);
  }
  expect(restored).toBeGreaterThan(0);
  expect(damaged).toBe(damagedFiles);
  await rm(home, { recursive: true });
});

/** Flips a bit of a file, or cuts it; how many were damaged. */
async function damageOne(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.kv'));
  const name = names[randomInt(Math.max(1, names.length))];
  if (name === undefined) return 0;
  const path = join(folder, name);
  const { size } = await stat(path);
  if (randomInt(4) === 0) {
    await truncate(path, randomInt(size));
    return 1;
  }
  const file = await open(path, 'r+');
  const place = randomInt(size);
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, place);
  byte[0] = (byte[0] ?? 0) ^ (1 << randomInt(8));
  await file.write(byte, 0, 1, place);
  await file.close();
  return 1;
}
