import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import {
  builtLibraries,
  findLibraries,
  installedPackage,
  isTestedRelease,
  librariesIn,
  PACKAGE_VERSION,
  packageName,
} from './native-library.ts';
import { PLATFORMS, platformKey, platformLibrary } from './platforms.ts';

const FILES = ['libllama.vulkan.v0.5.0.so', 'libggml.vulkan.v0.5.0.so', 'libggml-base.so'];

async function installed(names: readonly string[], version = PACKAGE_VERSION): Promise<string> {
  const libraries = await temporaryFolder();
  const name = packageName('vulkan');
  const root = installedPackage(libraries, name).replace(PACKAGE_VERSION, version);
  await mkdir(join(root, 'bins', name), { recursive: true });
  for (const file of names) await writeFile(join(root, 'bins', name, file), '');
  return libraries;
}

describe('the prebuilt libraries', () => {
  it('are looked for in the folder of libraries first', async () => {
    const libraries = await installed(FILES);
    const found = findLibraries('vulkan', libraries);
    expect(found?.folder).toBe(
      join(installedPackage(libraries, packageName('vulkan')), 'bins', packageName('vulkan')),
    );
    expect(found?.llama).toBe(join(found?.folder ?? '', 'libllama.vulkan.v0.5.0.so'));
  });

  it.each([
    ['lacks one of them', FILES.slice(1), PACKAGE_VERSION],
    ['is of another version', FILES, '3.0.0'],
  ])('are not those of a package that %s', async (_, names, version) => {
    const libraries = await installed(names, version);
    expect(findLibraries('vulkan', libraries)?.folder ?? '').not.toContain(libraries);
  });

  it('have the version that package.json and the lockfile name, for every platform of the table', async () => {
    const read = async (name: string): Promise<unknown> =>
      JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), 'utf8'));
    const { optionalDependencies } = (await read('package.json')) as Named;
    const { packages } = (await read('package-lock.json')) as Locked;
    const named = Object.entries(optionalDependencies).filter(([name]) =>
      name.startsWith('@node-llama-cpp/'),
    );
    const rows = Object.entries(PLATFORMS);
    expect(new Map(named)).toEqual(
      new Map(rows.map(([, { package: name, version }]) => [`@node-llama-cpp/${name}`, version])),
    );
    for (const [key, { package: name, version }] of rows) {
      const entry = packages[`node_modules/@node-llama-cpp/${name}`];
      expect([key, entry?.version]).toEqual([`${entry?.os?.[0]}-${entry?.cpu?.[0]}`, version]);
    }
  });
});

interface Named {
  readonly optionalDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version: string; readonly os?: readonly string[]; readonly cpu?: readonly string[] }
    >
  >;
}

describe('a build for Windows', () => {
  it('brings the libraries of its compiler, which are loaded first and in order', async () => {
    const folder = await temporaryFolder();
    const runtime = ['libwinpthread-1.dll', 'libgcc_s_seh-1.dll', 'libstdc++-6.dll'];
    const names = ['libllama.dll', 'ggml.dll', 'ggml-base.dll', 'ggml-cpu.dll', ...runtime.toReversed()];
    for (const name of [...names, 'other.dll']) await writeFile(join(folder, name), '');
    expect(librariesIn(folder)?.runtime).toEqual(runtime.map((name) => join(folder, name)));
    expect(builtLibraries([...names, 'other.dll'])).toEqual(names);
  });
});

describe('the table of platforms', () => {
  it.each([
    ['linux', 'x64', false, 'linux-x64'],
    ['darwin', 'arm64', false, 'mac-arm64-metal'],
    ['win32', 'x64', false, 'win-x64'],
    ['linux', 'x64', true, null],
    ['freebsd', 'x64', false, null],
  ])('has for %s %s (musl: %s) %s', (platform, arch, isMusl, name) => {
    expect(platformLibrary(platformKey(platform, arch, isMusl))?.package ?? null).toBe(name);
  });

  it.each([
    ['0.5.0-dev', true],
    ['v0.5.3', true],
    ['v0.4.0', true],
    ['0.50.0', false],
    ['0.6.0', false],
    ['10.5.0', false],
    ['unknown', false],
  ])('knows release %s: %s', (release, isKnown) => expect(isTestedRelease(release)).toBe(isKnown));
});
