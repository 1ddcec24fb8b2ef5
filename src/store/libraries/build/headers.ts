/**
 * Compiles the probe of packages/llama-api against the headers of a source tree, which shows if Hearth can call its
 * build.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { apiDigest, probeSource } from '../../../../packages/llama-api/src/probe.ts';
import type { Agreement } from '../own.ts';
import { runLogged, type RunOptions } from './run-logged.ts';
import type { Toolchain } from './toolchain.ts';

/** Links nothing, so that no start files of the platform are needed. */
const PROJECT = `cmake_minimum_required(VERSION 3.14)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
project(hearth_probe CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(probe OBJECT probe.cpp)
target_include_directories(probe PRIVATE \${HEADERS})
`;

export function headerFolders(folder: string): readonly string[] | null {
  const places = [join(folder, 'include'), join(folder, 'ggml', 'include')].filter((place) =>
    existsSync(place),
  );
  const has = (name: string): boolean => places.some((place) => existsSync(join(place, name)));
  return ['llama.h', 'ggml-backend.h', 'ggml-cpu.h'].every(has) ? places : null;
}

export interface Probing {
  readonly headers: readonly string[];
  readonly toolchain: Toolchain;
  readonly work: string;
  readonly run: Pick<RunOptions, 'log' | 'signal' | 'env'>;
}

export async function compareHeaders({ headers, toolchain, work, run }: Probing): Promise<Agreement> {
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true, mode: 0o700 });
  await writeFile(join(work, 'CMakeLists.txt'), PROJECT);
  await writeFile(join(work, 'probe.cpp'), probeSource());
  const { cmake, ninja, options } = toolchain;
  const build = join(work, 'build');
  const generator = ninja === null ? [] : ['-G', 'Ninja', `-DCMAKE_MAKE_PROGRAM=${ninja}`];
  const places = `-DHEADERS=${headers.join(';')}`;
  const cxx = options.filter((option) => option.startsWith('-DCMAKE_CXX'));
  await runLogged(cmake.path, ['-S', work, '-B', build, ...generator, ...cxx, places], run);
  const errors: string[] = [];
  const onLine = (line: string): void => {
    if (/\berror\b/.test(line)) errors.push(line);
  };
  try {
    await runLogged(cmake.path, ['--build', build], { ...run, onLine });
    return { api: apiDigest() };
  } catch (error) {
    run.signal.throwIfAborted();
    const first = inWords(errors[0] ?? errorMessage(error).split('\n').at(-1) ?? '');
    return { api: null, reason: `its headers differ from what Hearth calls: ${first}` };
  }
}

function inWords(line: string): string {
  return line
    .replace(/^.*?\berror(?: C\d+)?:\s*/, '')
    .replace(/^static(?:_| )assert(?:ion)? failed(?: due to requirement '.*')?:?\s*/, '')
    .slice(0, 200);
}
