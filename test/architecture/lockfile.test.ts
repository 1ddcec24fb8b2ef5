/** What npm and `hearth gpu install` may put on a machine is known by its hash beforehand. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GPU_LIBRARIES } from '../../src/store/libraries/packages.ts';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
}

/** Not in the registry where the lockfile was made. A row goes as soon as the lockfile has the hash. */
const WITHOUT_HASH = ['mac-arm64-metal', 'mac-x64', 'win-arm64', 'win-x64'].map(
  (name) => `node_modules/@node-llama-cpp/${name}`,
);

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
const running = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true);

describe('the packages that run', () => {
  it('have a hash each, on every platform', () => {
    const without = running.filter(([, { integrity }]) => integrity === undefined).map(([place]) => place);
    expect(without.toSorted()).toEqual(WITHOUT_HASH.toSorted());
    for (const [place, { integrity }] of running)
      if (integrity !== undefined) expect(integrity, place).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  });

  it('are libraries for processors and Apple silicon; those for GPUs have their own table', () => {
    const places = running.map(([place]) => place).filter((place) => place.includes('@node-llama-cpp/'));
    expect(places).toHaveLength(7);
    expect(places.filter((place) => /cuda|vulkan/.test(place))).toEqual([]);
    const hashes = Object.values(GPU_LIBRARIES).flatMap(({ main, extension }) => [
      main.integrity,
      ...(extension === undefined ? [] : [extension.integrity]),
    ]);
    expect(new Set(hashes).size).toBe(3);
    for (const hash of hashes) expect(hash).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  });
});
