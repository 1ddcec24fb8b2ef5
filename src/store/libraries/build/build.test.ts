/** The pure parts of a build: its options, its names, and the steps that ninja and make tell. */
import { describe, expect, it } from 'vitest';
import { isBuildName } from '../../../lib/files/native-library.ts';
import { BUILD_GPUS, buildName, cmakeOptions, defaultJobs, buildTargets } from './options.ts';
import { secondsLeft, parseStep } from './progress.ts';
import { sourceChoice } from './source.ts';
import { toolFor } from './tools.ts';

describe('the options', () => {
  it.each(BUILD_GPUS)('of a build for %s compile native code without OpenMP into shared libraries', (gpu) => {
    const options = cmakeOptions({ gpu, media: false }, 'linux');
    expect(options).toEqual(
      expect.arrayContaining(['-DBUILD_SHARED_LIBS=ON', '-DGGML_OPENMP=OFF', '-DGGML_NATIVE=ON']),
    );
    const names = options.map((option) => option.split('=')[0]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('turn on one kind of GPU and no other', () => {
    const on = (gpu: (typeof BUILD_GPUS)[number]) =>
      cmakeOptions({ gpu, media: false }, 'linux').filter((option) =>
        /^-DGGML_(?:CUDA|VULKAN|HIP|METAL)=ON$/.test(option),
      );
    expect(Object.fromEntries(BUILD_GPUS.map((gpu) => [gpu, on(gpu)]))).toEqual({
      none: [],
      cuda: ['-DGGML_CUDA=ON'],
      vulkan: ['-DGGML_VULKAN=ON'],
      rocm: ['-DGGML_HIP=ON'],
      metal: ['-DGGML_METAL=ON'],
    });
  });

  it('build libmtmd only where it is asked for', () => {
    expect(buildTargets({ gpu: 'none', media: false })).toEqual(['llama']);
    expect(buildTargets({ gpu: 'none', media: true })).toEqual(['llama', 'mtmd']);
  });

  it.each([
    [8, 64e9, 8],
    [8, 2e9, 3],
    [8, 1e6, 1],
  ])('run %i processors with %i free bytes in %i jobs', (processors, free, jobs) => {
    expect(defaultJobs(processors, free)).toBe(jobs);
  });

  it.each(['v0.5.0', '../../etc', 'feature/x', '.', '', 'ü'.repeat(100), 'package'])(
    'name a build of release %j as a folder may be called',
    (release) => expect(isBuildName(buildName(release, { gpu: 'none', media: true }))).toBe(true),
  );
});

describe('the steps', () => {
  it.each([
    ['[12/77] Building CXX object a.o', { completed: 12, total: 77 }],
    ['[ 15%] Building CXX object a.o', { completed: 15, total: 100 }],
    ['[100%] Built target llama', { completed: 100, total: 100 }],
    ['ninja: no work to do.', null],
    ['warning: x[1/2]', null],
  ])('are read from %j', (line, step) => expect(parseStep(line)).toEqual(step));

  it('tell the time that is left once some are done', () => {
    expect(secondsLeft({ completed: 1, total: 100 }, 60_000)).toBeNull();
    expect(secondsLeft({ completed: 25, total: 100 }, 10_000)).toBe(30);
    expect(secondsLeft({ completed: 100, total: 100 }, 10_000)).toBe(0);
  });
});

describe('the source', () => {
  it('is the pinned one unless something else is asked for', () => {
    expect(sourceChoice({})).toEqual({ kind: 'pinned' });
    expect(sourceChoice({ release: 'v0.5.0' })).toEqual({ kind: 'pinned' });
    expect(sourceChoice({ release: 'v0.6.1' })).toMatchObject({ kind: 'release', tag: 'v0.6.1' });
    expect(sourceChoice({ source: '/llama.cpp' })).toEqual({ kind: 'folder', folder: '/llama.cpp' });
  });

  it.each(['--upload-pack=x', '-b', '', 'a b', 'a\nb'])('is never an option of git: %j', (release) => {
    expect(() => sourceChoice({ release })).toThrow('is no name of a release');
  });
});

it.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'])(
  'the tools for %s are pinned by a SHA-256',
  (platform) => {
    for (const name of ['zig', 'cmake', 'ninja'] as const) {
      const tool = toolFor(name, platform);
      expect(Buffer.from(tool?.integrity.replace('sha256-', '') ?? '', 'base64')).toHaveLength(32);
      expect(tool?.url).toMatch(/^https:\/\/files\.pythonhosted\.org\/packages\/.*\.whl$/);
      expect(tool?.program.endsWith('.exe')).toBe(platform.startsWith('win32'));
    }
  },
);
