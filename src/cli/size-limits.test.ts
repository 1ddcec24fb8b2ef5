import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { loadConfig } from '../config/config.ts';
import { oddSizes, sizeWarnings } from './size-limits.ts';

const GIB = 1024 ** 3;
const room = { diskBytes: 72 * GIB, ramBytes: 16 * GIB };

it.each([
  [
    { cacheDisk: 9999 * GIB, cacheRam: null },
    /^SVC_CACHE_DISK=\S+ \w+ exceeds the free space of its disk \(72\.0 GiB\); /,
  ],
  [
    { cacheDisk: null, cacheRam: 17 * GIB },
    /^SVC_CACHE_RAM=17\.0 GiB exceeds the memory of this machine \(16\.0 GiB\); /,
  ],
  [{ cacheDisk: 10, cacheRam: 0 }, /^SVC_CACHE_DISK=10 B is too small for the state of any prompt; /],
])('warns of a size that has no effect: %o', (sizes, sentence) => {
  expect(oddSizes(sizes, room)).toEqual([expect.stringMatching(sentence)]);
});

it.each([
  { cacheDisk: 72 * GIB, cacheRam: 4 * GIB },
  { cacheDisk: 0, cacheRam: null },
])('accepts %o', (sizes) => {
  expect(oddSizes(sizes, room)).toEqual([]);
});

it('compares with the disk of the home folder', async () => {
  const env = { SVC_HOME: tmpdir(), SVC_CACHE_DISK: '8000TiB' };
  expect(await sizeWarnings(loadConfig({ flags: {}, env, dev: false }))).toHaveLength(1);
});
