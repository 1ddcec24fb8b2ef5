/** What keys used is kept: no write outlives the store that began it. */
import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { silentLogger } from '../../lib/base/logger.ts';
import { addKey } from '../../store/keys/key-file.ts';
import { readUsage } from '../../store/keys/usage-file.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
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
  return { home, store, timers };
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
