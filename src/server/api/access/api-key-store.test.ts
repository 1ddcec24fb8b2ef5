/** What keys used is kept: no write outlives the store that began it. */
import { readdir, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../lib/base/logger.ts';
import {
  addKey,
  changeKey,
  keyFilePath,
  readKeys,
  removeKey,
  rotateKey,
} from '../../../store/keys/key-file.ts';
import { readUsage } from '../../../store/keys/usage-file.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { generateJob } from '../../../../test/support/engine/jobs.ts';
import { temporaryFolder } from '../../../../test/support/temp-home.ts';
import { ApiKeyStore } from './api-key-store.ts';

async function usedOnce() {
  const home = await temporaryFolder();
  const { key } = await addKey(home, { name: 'ann', admin: false, localOnly: false }, 0);
  const timers: (() => void)[] = [];
  const clock = Object.assign(new ManualClock(), {
    after: (_delayMs: number, callback: () => void) => {
      timers.push(callback);
      return () => {};
    },
  });
  const store = await ApiKeyStore.open({ home, clock, log: silentLogger, isLocal: () => true });
  const holder = store.findHolder(key);
  if (holder === null) throw new Error('the key is not known');
  const target = { modelId: 'a' } as Parameters<typeof holder.admit>[0]['target'];
  const { onEvent, onEnd } = holder.admit({ target, job: generateJob({}) } as Parameters<
    typeof holder.admit
  >[0]);
  onEvent({ type: 'started', promptTokens: 3, cachedTokens: 0 } as Parameters<typeof onEvent>[0]);
  onEnd();
  return { home, store, timers, key };
}

it.each([
  ['a write that waits for its time', false],
  ['a write that runs', true],
])('is over with %s', async (_what, runs) => {
  const { home, store, timers } = await usedOnce();
  expect(timers).toHaveLength(1);
  if (runs) timers[0]?.();
  await store.close();
  expect((await readUsage(home))?.tokens).toEqual({ ann: 3 });
  expect((await readdir(home)).filter((name) => name.includes('usage'))).toEqual(['key-usage.json']);
});

it('gives a key other limits while it is used: what it used and runs still counts', async () => {
  const { home, store, key } = await usedOnce();
  const holder = store.findHolder(key);
  const open = [holder?.begin(), holder?.begin()];
  const change = async (rights: Parameters<typeof changeKey>[2]) => {
    await changeKey(home, 'ann', rights);
    await store.refresh();
    return store.findHolder(key);
  };
  const bounded = await change({
    maxRequests: 2,
    tokensPerDay: 3,
    models: ['b'],
    expiresAt: '1970-01-01T00:00:00.000Z',
  });
  expect(bounded).toBe(holder);
  expect(bounded?.use).toEqual({ name: 'ann', openRequests: 2, tokensToday: 3, tokensPerDay: 3 });
  expect(() => bounded?.begin()).toThrow(expect.objectContaining({ code: 'key_busy' }));
  expect([bounded?.mayUse('a'), bounded?.mayUse('b'), bounded?.refusal()?.code]).toEqual([
    false,
    true,
    'key_expired',
  ]);
  const free = await change({ maxRequests: undefined, models: undefined, expiresAt: undefined });
  expect([free?.mayUse('a'), free?.refusal(), free?.use.tokensPerDay]).toEqual([true, null, 3]);
  free?.begin();
  expect(free?.use.openRequests).toBe(3);
  expect(open).toHaveLength(2);
  const [record] = await readKeys(home);
  expect(Object.keys(record ?? {}).sort()).toEqual([
    'admin',
    'createdAt',
    'localOnly',
    'name',
    'sha256',
    'tokensPerDay',
  ]);
  await store.close();
});

it('logs which keys it takes over, by name, and nothing at its start', async () => {
  const home = await temporaryFolder();
  const { key } = await addKey(home, { name: 'ann', admin: false, localOnly: false }, 0);
  const lines: object[] = [];
  const log = { ...silentLogger, info: (facts: object) => void lines.push(facts) };
  const store = await ApiKeyStore.open({ home, clock: new ManualClock(), log, isLocal: () => true });
  expect(lines).toEqual([]);
  await addKey(home, { name: 'ben', admin: false, localOnly: false }, 0);
  await changeKey(home, 'ann', { maxRequests: 2 });
  await store.refresh();
  await removeKey(home, 'ben');
  await store.refresh();
  expect(lines).toEqual([{ added: 'ben', changed: 'ann' }, { removed: 'ben' }]);
  expect(JSON.stringify(lines)).not.toContain(key);
  await store.close();
});

it('never writes rights with which the file could not be read again', async () => {
  const { home, store, key } = await usedOnce();
  await expect(changeKey(home, 'nobody', { admin: true })).rejects.toMatchObject({ code: 'key_not_found' });
  for (const rights of [{ maxRequests: 100_001 }, { tokensPerDay: 0 }, { models: Array(257).fill('m') }]) {
    for (const write of [
      () => changeKey(home, 'ann', rights),
      () => addKey(home, { name: 'ben', ...rights }, 0),
    ])
      await expect(write()).rejects.toMatchObject({ code: 'unsupported_value' });
  }
  await store.refresh();
  expect(store.findHolder(key)?.use.name).toBe('ann');
  await store.close();
});

it('lets the secret before a rotation in until its overlap ends, then names the rotation', async () => {
  const { home, store, key } = await usedOnce();
  const holder = store.findHolder(key);
  const rotate = (overlapMs: number, nowMs: number) => rotateKey(home, 'ann', { overlapMs, nowMs });
  const second = await rotate(1_000, -500);
  const third = await rotate(0, 0);
  await store.refresh();
  const refusals = [key, second.key, third.key].map((secret) => {
    expect(store.findHolder(secret)).toBe(holder);
    return holder?.refusal(secret)?.message;
  });
  const rotated =
    'The API key "ann" was rotated, and this secret ended on 1970-01-01T00:00:00.000Z; send the new one.';
  expect(refusals).toEqual([rotated, rotated, undefined]);
  const fourth = await rotate(3e12, 0);
  await store.refresh();
  expect([holder?.refusal(third.key), holder?.refusal(fourth.key), holder?.refusal()]).toEqual([
    null,
    null,
    null,
  ]);
  await store.close();
});

it('reads a file of keys from before keys could be rotated', async () => {
  const home = await temporaryFolder();
  const record = { name: 'old', sha256: 'ab'.repeat(32), createdAt: '', admin: true, localOnly: false };
  await writeFile(keyFilePath(home), JSON.stringify({ schema: 1, keys: [record] }), { mode: 0o600 });
  expect(await readKeys(home)).toEqual([record]);
  const rotated = await rotateKey(home, 'old', { overlapMs: 0, nowMs: 0 });
  expect(rotated.record).toMatchObject({ firstSha256: record.sha256, admin: true });
});
