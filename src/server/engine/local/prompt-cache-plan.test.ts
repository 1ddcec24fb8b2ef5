import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temp-home.ts';
import { KIND_PATTERN } from '../../../lib/prompt-cache/kind.ts';
import type { LocalSource } from './model-source.ts';
import { createPromptCachePlan, type PromptCacheOptions } from './prompt-cache-plan.ts';

const MIB = 1024 * 1024;
const SOURCE: LocalSource = {
  path: '/models/one.gguf',
  digest: 'a'.repeat(64),
  threads: null,
  settings: {},
  experts: null,
  attached: { adapters: [], draft: null },
  weightsBytes: 1,
  kvBytesPerToken: 1,
  verify: async () => undefined,
};

async function planned(source: Partial<LocalSource> = {}, options: Partial<PromptCacheOptions> = {}) {
  const plan = await createPromptCachePlan({
    home: await temporaryFolder(),
    ramBytes: MIB,
    diskBytes: MIB,
    secret: 'b'.repeat(64),
    gpu: 'off',
    backendSha256: () => 'c'.repeat(64),
    ...options,
  });
  return plan({ ...SOURCE, ...source });
}

const kindOf = async (...args: Parameters<typeof planned>) => (await planned(...args)).disk?.kind;

describe('what a load may keep of prompts', () => {
  it('is found again by a load of the same', async () => {
    expect(await kindOf()).toMatch(new RegExp(KIND_PATTERN));
    expect(await kindOf()).toBe(await kindOf());
    // The same weights, wherever they lie and however many threads compute.
    expect(await kindOf({ path: '/elsewhere.gguf', threads: 1 })).toBe(await kindOf());
  });

  it.each<[string, Partial<LocalSource>, Partial<PromptCacheOptions>]>([
    ['weights', { digest: 'd'.repeat(64) }, {}],
    ['an engine build', {}, { backendSha256: () => 'e'.repeat(64) }],
    ['a KV type', { settings: { kvTypeK: 'q8_0' } }, {}],
    ['a device', {}, { gpu: 'vulkan' }],
    ['adapters', { attached: { adapters: [{ name: 'one', path: '/one.gguf' }], draft: null } }, {}],
  ])('is not found with another of %s', async (_what, source, options) => {
    const kind = await kindOf(source, options);
    expect(kind).toMatch(new RegExp(KIND_PATTERN));
    expect(kind).not.toBe(await kindOf());
  });

  it.each<[string, Partial<LocalSource>, Partial<PromptCacheOptions>]>([
    ['the digest of the weights', { digest: null }, {}],
    ['the engine build', {}, { backendSha256: () => null }],
    ['room on the disk', {}, { diskBytes: 0 }],
  ])('stays in memory without %s', async (_what, source, options) => {
    expect(await planned(source, options)).toEqual({ ramBytes: MIB, disk: null });
  });

  it('stays in memory where the folder cannot be made', async () => {
    const home = path.join(await temporaryFolder(), 'home');
    mkdirSync(home);
    writeFileSync(path.join(home, 'cache'), 'in the way');
    expect((await planned({}, { home })).disk).toBeNull();
  });

  it('is bounded by what is free where nobody said how much', async () => {
    const { ramBytes, disk } = await planned({}, { ramBytes: null, diskBytes: null });
    expect(ramBytes).toBeGreaterThan(0);
    expect(ramBytes).toBeLessThanOrEqual(4 * 1024 * MIB);
    expect(disk?.bytes ?? 0).toBeLessThanOrEqual(16 * 1024 * MIB);
  });
});
