/** What the suite needs of the registries, once per machine: by the hashes that Hearth pins, below the user's cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PLATFORMS } from '../../src/lib/files/platforms.ts';
import { toolFor } from '../../src/store/libraries/build/tools.ts';
import { sourcePackage } from '../../src/store/libraries/build/source.ts';
import { unpackWheel } from '../../src/store/libraries/wheel.ts';

const run = promisify(execFile);
const CACHE = process.env['HEARTH_PLATFORMS_CACHE'] ?? path.join(homedir(), '.cache', 'hearth-platforms');
const REGISTRY = 'https://registry.npmjs.org';

interface Wanted {
  readonly url: string;
  readonly integrity: string;
}

/** The program of the pinned zig for this machine. */
export async function zig(): Promise<string> {
  const tool = toolFor('zig', `${process.platform}-${process.arch}`);
  if (tool === null) throw new Error('no zig is pinned for this machine');
  const folder = await once(`zig-${tool.version}`, async (target) => {
    const wheel = `${target}.whl`;
    await writeFile(wheel, await fetchPinned(tool));
    await unpackWheel(wheel, target);
    await rm(wheel);
  });
  return path.join(folder, tool.program);
}

/** The libraries of a package, unpacked. */
export async function libraryPackage(name: string): Promise<string> {
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  const entry = lock.packages[`node_modules/@node-llama-cpp/${name}`];
  if (entry === undefined) throw new Error(`package-lock.json names no ${name}`);
  const url = `${REGISTRY}/@node-llama-cpp/${name}/-/${name}-${entry.version}.tgz`;
  return unpackOnce(`${name}-${entry.version}`, { url, integrity: entry.integrity });
}

/** Both releases that the table of platforms has; the newer one is what Hearth builds. */
const SOURCES: Readonly<Record<string, Wanted>> = {
  'v0.5.0': sourcePackage(REGISTRY),
  'v0.4.0': {
    url: `${REGISTRY}/node-llama-cpp/-/node-llama-cpp-3.21.1.tgz`,
    integrity:
      'sha512-E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==',
  },
};

export const RELEASES = [...new Set(Object.values(PLATFORMS).map(({ release }) => release))];

/** The headers of a release. */
export async function headers(release: string): Promise<readonly string[]> {
  const source = SOURCES[release];
  if (source === undefined) throw new Error(`no source is pinned for ${release}`);
  const folder = await once(`llama.cpp-${release}`, async (target) => {
    await unpack(source, `${target}.package`);
    const bundle = path.join(`${target}.package`, 'llama', 'gitRelease.bundle');
    await run('git', ['clone', '--quiet', '--no-checkout', bundle, target]);
    await run('git', ['-C', target, 'checkout', '--quiet', 'HEAD', '--', 'include', 'ggml/include']);
    await rm(`${target}.package`, { recursive: true });
  });
  return [path.join(folder, 'include'), path.join(folder, 'ggml', 'include')];
}

/** An archive of npm's, unpacked below its first folder. */
export const unpackOnce = (name: string, wanted: Wanted): Promise<string> =>
  once(name, (target) => unpack(wanted, target));

async function once(name: string, make: (target: string) => Promise<void>): Promise<string> {
  const folder = path.join(CACHE, name);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const stage = `${folder}.${process.pid}`;
  await make(stage);
  await rename(stage, folder);
  return folder;
}

async function unpack(wanted: Wanted, target: string): Promise<void> {
  const archive = `${target}.tgz`;
  await writeFile(archive, await fetchPinned(wanted));
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
  await rm(archive);
}

async function fetchPinned({ url, integrity }: Wanted): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const algorithm = integrity.slice(0, integrity.indexOf('-'));
  const actual = `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;
  if (actual !== integrity) throw new Error(`${url} has the hash ${actual}`);
  return bytes;
}
