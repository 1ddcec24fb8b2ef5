/** The probe of packages/llama-api, compiled for every platform against the headers of every release that Hearth comes with. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeSource } from '../../packages/llama-api/src/probe.ts';
import { headers, RELEASES, zig } from './downloads.ts';

const run = promisify(execFile);

const TARGETS = [
  'x86_64-linux-gnu',
  'aarch64-linux-gnu',
  'arm-linux-gnueabihf',
  'x86_64-linux-musl',
  'aarch64-linux-musl',
  'x86_64-macos',
  'aarch64-macos',
  'x86_64-windows-gnu',
  'aarch64-windows-gnu',
];

let folder: string;
let compiler: string;
let places: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-probe-'));
  compiler = await zig();
  const found: [string, readonly string[]][] = [];
  for (const release of RELEASES) found.push([release, await headers(release)]);
  places = new Map(found);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function compile(target: string, release: string, source = probeSource()): Promise<string> {
  const work = await mkdtemp(path.join(folder, 'one-'));
  const file = path.join(work, 'probe.cpp');
  await writeFile(file, source);
  const includes = (places.get(release) ?? []).flatMap((place) => ['-I', place]);
  const args = [
    'c++',
    '-target',
    target,
    '-std=c++17',
    '-w',
    ...includes,
    '-c',
    file,
    '-o',
    path.join(work, 'probe.o'),
  ];
  // Its C library is compiled once for a target; the headers alone are in the package.
  const caches = {
    ZIG_GLOBAL_CACHE_DIR: path.join(folder, 'cache'),
    ZIG_LOCAL_CACHE_DIR: path.join(folder, 'cache'),
  };
  try {
    await run(compiler, args, { env: { ...process.env, ...caches } });
    return '';
  } catch (error) {
    return String(Reflect.get(Object(error), 'stderr'));
  }
}

describe.each(RELEASES)('the declarations and the headers of %s', (release) => {
  it.each(TARGETS)('agree on %s', async (target) => expect(await compile(target, release)).toBe(''));

  it.each(TARGETS)('would be told apart on %s', async (target) => {
    const wrong = probeSource().replace('std::int32_t n_gpu_layers;', 'std::int64_t n_gpu_layers;');
    expect(await compile(target, release, wrong)).toContain('llama_model_params.n_gpu_layers');
  });
});

it('there are two releases, and none without headers', () => {
  expect(RELEASES).toEqual(['v0.5.0', 'v0.4.0']);
  expect([...places.values()].map((list) => list.length)).toEqual([2, 2]);
});
