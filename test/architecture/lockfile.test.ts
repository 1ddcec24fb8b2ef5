/** What npm and `hearth gpu install` may put on a machine is known by its hash beforehand. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GPU_LIBRARIES } from '../../src/store/libraries/packages.ts';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const SHA256 = /^sha256-[A-Za-z0-9+/]{43}=$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
const locked = Object.entries(packages).filter(([place]) => place !== '');
const running = locked.filter(([, { dev }]) => dev !== true);

describe('the packages that run', () => {
  it('have a hash each, on every platform', () => {
    expect(running.length).toBeGreaterThan(80);
    for (const [place, { integrity }] of running) expect(integrity, place).toMatch(SHA512);
  });

  it('hold libraries for one processor each; those for GPUs have their own table', () => {
    const libraries = running.filter(([place]) => place.includes('@node-llama-cpp/'));
    // npm forgets this at times; `node scripts/lockfile.mjs` says it again.
    expect(libraries.map(([place, { cpu, os }]) => [place.split('/').at(-1), cpu, os])).toEqual([
      ['linux-arm64', ['arm64'], ['linux']],
      ['linux-armv7l', ['arm'], ['linux']],
      ['linux-x64', ['x64'], ['linux']],
      ['mac-arm64-metal', ['arm64'], ['darwin']],
      ['mac-x64', ['x64'], ['darwin']],
      ['win-arm64', ['arm64'], ['win32']],
      ['win-x64', ['x64'], ['win32']],
    ]);
    const hashes = Object.values(GPU_LIBRARIES).flatMap(({ main, extension }) => [
      main.integrity,
      ...(extension === undefined ? [] : [extension.integrity]),
    ]);
    expect(new Set(hashes).size).toBe(3);
    for (const hash of hashes) expect(hash).toMatch(SHA512);
    const wheels = Object.values(GPU_LIBRARIES).flatMap(({ runtimes = [] }) =>
      runtimes.flatMap((runtime) => runtime.wheels),
    );
    expect(new Set(wheels.map(({ integrity }) => integrity)).size).toBe(4);
    for (const { integrity } of wheels) expect(integrity).toMatch(SHA256);
  });
});

/** Development tools for platforms that the registry lacked on the day of the lockfile; none of them is installed on Linux x64. */
function isForAnotherPlatform({ dev, optional, os, cpu, libc }: Locked): boolean {
  const isHere =
    os?.includes('linux') !== false && cpu?.includes('x64') !== false && libc?.includes('glibc') !== false;
  return dev === true && optional === true && !isHere;
}

it('the development tools have a hash each on Linux x64', () => {
  const unknown = locked.filter(([, { integrity }]) => integrity === undefined);
  expect(unknown.filter(([, entry]) => !isForAnotherPlatform(entry)).map(([place]) => place)).toEqual([]);
});

describe('the bill of materials', () => {
  interface Component {
    readonly type: string;
    readonly name: string;
    readonly version: string;
    readonly purl?: string;
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses?: readonly unknown[];
  }
  const print = () => execFileSync(process.execPath, ['scripts/sbom.mjs'], { encoding: 'utf8' });

  it('lists every package that runs with its hash and licence, and the models, the same each time', () => {
    const first = print();
    expect(print()).toBe(first);
    const { bomFormat, specVersion, metadata, components } = JSON.parse(first) as {
      bomFormat: string;
      specVersion: string;
      metadata: { component: { name: string; version: string } };
      components: Component[];
    };
    expect([bomFormat, specVersion]).toEqual(['CycloneDX', '1.5']);
    expect(metadata.component).toMatchObject({ name: 'hearth-llm', version: packages['']?.version });
    const listed = new Map(
      components.map((component) => [`${component.name}@${component.version}`, component]),
    );
    for (const [place, { version, integrity }] of running) {
      const name = place.split('node_modules/').at(-1) ?? '';
      const component = listed.get(`${name}@${version}`);
      const [, digest = ''] = (integrity ?? '').split('-');
      const content = Buffer.from(digest, 'base64').toString('hex');
      expect(component?.hashes, place).toEqual([{ alg: 'SHA-512', content }]);
      expect(component?.licenses, place).toHaveLength(1);
      expect(component?.purl, place).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    }
    const models = components.filter(({ type }) => type === 'machine-learning-model');
    expect(models.map(({ name }) => name)).toEqual(['hearth-embed', 'hearth-mini']);
    for (const { name, hashes } of models) {
      const card = readFileSync(`docs/models/${name}.md`, 'utf8');
      expect(card).toContain(hashes?.[0]?.content);
    }
    expect(components).toHaveLength(
      new Set(running.map(([place, { version }]) => `${place.split('node_modules/').at(-1)}@${version}`))
        .size + 2,
    );
  });
});
