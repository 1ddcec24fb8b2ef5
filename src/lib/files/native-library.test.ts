import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { findLibraries, installedPackage, PACKAGE_VERSION, packageName } from './native-library.ts';

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

  it('have the version that package.json names for every platform', async () => {
    const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
    const { optionalDependencies } = JSON.parse(text) as { optionalDependencies: Record<string, string> };
    const versions = Object.entries(optionalDependencies).filter(([name]) =>
      name.startsWith('@node-llama-cpp/'),
    );
    expect(versions).toHaveLength(3);
    expect(new Set(versions.map(([, version]) => version))).toEqual(new Set([PACKAGE_VERSION]));
  });
});
