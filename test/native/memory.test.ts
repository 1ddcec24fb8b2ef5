/** What the native library reckons before a load, against what the load then takes. */
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/lib/base/logger.ts';
import { systemClock } from '../../src/lib/base/clock.ts';
import type { DeviceBytes } from '../../src/contract/memory.ts';
import { totalBytes } from '../../src/server/engine/device-memory.ts';
import { sumDevices } from '../../src/server/engine/local/memory/measured-memory.ts';
import { createLocalBackend } from '../../src/server/engine/local/local-backend.ts';
import { fileTarget, type LocalTarget } from '../../src/server/engine/local/model-source.ts';
import { builtDist } from '../support/process/hearth.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';
import { writeTinySlidingWindow } from '../../tools/models/tiny-variants.ts';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { loadEmbedding } from '../../src/worker/load/embedding.ts';
import { loadChat } from '../../src/worker/load/chat.ts';
import { measureModel } from '../../src/worker/load/measure.ts';
import { loadSpec } from '../support/engine/jobs.ts';

/** What two processes of the same work may differ by: the heap of JavaScript grows as it likes. Both take some 100 MiB. */
const GARBAGE_BYTES = 64 * 2 ** 20;

const booted = bootNative('off');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-memory-'));
  await writeTinyChat(join(folder, 'chat.gguf'));
  await writeTinyEmbed(join(folder, 'embedding.gguf'));
  await writeTinySlidingWindow(join(folder, 'sliding.gguf'));
});

afterAll(() => rm(folder, { recursive: true }));

function targetOf(kind: LocalTarget['kind']): LocalTarget {
  const path = join(folder, `${kind}.gguf`);
  const target = fileTarget({ modelId: kind, kind }, { path, digest: null, threads: 1 });
  const source = { ...target.source, weightsBytes: statSync(path).size };
  return { ...target, source, trainedCtx: 4_096, defaultCtx: 512 };
}

function newBackend() {
  const backend = createLocalBackend({
    childPath: join(builtDist, 'worker', 'main.js'),
    hostEnv: { PATH: process.env['PATH'] },
    gpu: 'off',
    clock: systemClock,
    log: silentLogger,
  });
  onTestFinished(() => backend.close());
  return backend;
}

it.each([
  ['chat', 512, 1],
  ['chat', 1_024, 4],
  ['chat', 2_048, 2],
  ['chat', 3_000, 1],
  ['chat', 4_096, 8],
  ['embedding', 128, 1],
  ['embedding', 512, 1],
  ['embedding', 300, 1],
] as const)(
  'the plan of %s with %d tokens and %d slots is what it takes, but for the garbage of its process',
  async (kind, numCtx, slots) => {
    const backend = newBackend();
    const target = targetOf(kind);
    const size = { numCtx, slots, cells: numCtx };
    expect(backend.isMeasured?.(target)).toBe(false);
    await backend.measure?.(target);
    const planned = totalBytes(backend.memoryNeed(target, size) ?? []);
    const { facts } = await backend.load(target, size, new AbortController().signal);
    const taken = totalBytes(facts.memory);
    expect(Math.abs(planned - taken)).toBeLessThan(GARBAGE_BYTES);
    // And the next load of this size is planned with exactly that.
    expect(backend.memoryNeed(target, facts)).toEqual(facts.memory);
  },
);

it.each([
  ['chat', 512, 1],
  ['chat', 1_024, 4],
  ['chat', 4_096, 8],
  ['embedding', 128, 1],
  ['embedding', 512, 1],
] as const)(
  'what the library asks for %s with %d tokens and %d slots is within a twentieth of what it allocates',
  async (kind, numCtx, parallel) => {
    const native = await booted;
    const spec = loadSpec({ kind, path: join(folder, `${kind}.gguf`), numCtx, parallel });
    const sizes = [{ cells: spec.cells, sequences: parallel, unified: false }];
    const [asked = []] = (await measureModel(native, { ...spec, sizes })).sizes;
    const load = kind === 'chat' ? loadChat : loadEmbedding;
    const { facts } = await load(native, spec, () => undefined);
    const planned = totalBytes(sumDevices(asked));
    const taken = totalBytes(sumDevices(facts.memory ?? []));
    expect(taken).toBeGreaterThan(0);
    expect(Math.abs(planned - taken) / taken).toBeLessThan(0.05);
  },
);

it('the plan of a sliding window tells shared cells from windows of their own, as a load opens them', async () => {
  const native = await booted;
  const context = (bytes: readonly DeviceBytes[]) =>
    bytes.reduce((sum, { contextBytes }) => sum + contextBytes, 0);
  const spec = loadSpec({ path: join(folder, 'sliding.gguf'), numCtx: 1_024, parallel: 4 });
  const sizes = [1_024, 4_096].map((cells) => ({ cells, sequences: 4, unified: cells < 4_096 }));
  const asked = await measureModel(native, { ...spec, sizes });
  const taken = [];
  for (const { cells } of sizes) {
    const { context: opened } = await loadChat(native, { ...spec, cells }, () => undefined);
    taken.push(context(opened.memory()));
    opened.dispose();
  }
  expect(asked.sizes.map(context)).toEqual(taken);
  expect(taken[1]).toBeGreaterThan(2 * (taken[0] ?? 0));
});
