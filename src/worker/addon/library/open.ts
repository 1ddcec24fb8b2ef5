/**
 * worker/addon/library owns the foreign functions: llama.cpp's exports, struct layouts, devices and threads. It knows
 * nothing of models, prompts or batches. This file loads the libraries and binds the tables of functions.ts. A
 * missing symbol fails here, by name.
 */
import { basename } from 'node:path';
import koffi, { type KoffiFunc, type LibraryHandle, type TypeObject } from 'koffi';
import type { Bound, Declared } from '../../../../packages/llama-api/src/declared.ts';
import { GGML, GGML_BASE, LLAMA } from '../../../../packages/llama-api/src/functions.ts';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import type { LibraryFiles } from '../../../lib/files/native-library.ts';
import { checkLayouts } from './layout-check.ts';

export type Library = Bound<typeof LLAMA> &
  Bound<typeof GGML> &
  Bound<typeof GGML_BASE> & {
    readonly files: LibraryFiles;
    optional(
      name: string,
      result: TypeObject | string,
      ...parameters: string[]
    ): KoffiFunc<(...args: never[]) => unknown> | null;
  };

type Table = Readonly<Record<string, Declared<unknown>>>;

export function openLibrary(files: LibraryFiles): Library {
  // In dependency order: each finds the one before it already loaded.
  for (const file of files.runtime ?? []) load(file);
  const base = load(files.base);
  for (const file of files.compute) loadIfPossible(file);
  const ggml = load(files.ggml);
  const llama = load(files.llama);
  const library = {
    files,
    ...bind(llama, LLAMA, files.llama),
    ...bind(ggml, GGML, files.ggml),
    ...bind(base, GGML_BASE, files.base),
    optional: (name: string, result: TypeObject | string, ...parameters: string[]) => {
      try {
        return llama.func(name, result, parameters);
      } catch {
        // Its C++ name differs between compilers; callers work without it.
        return null;
      }
    },
  } as unknown as Library;
  checkLayouts(library, remedyFor(files), files.api ?? null);
  return library;
}

export function load(file: string): LibraryHandle {
  try {
    return koffi.load(file);
  } catch (error) {
    const reason = errorMessage(error).replace(/^Failed to load shared library: /, '');
    throw new Error(`${basename(file)} cannot be loaded: ${reason}`, { cause: error });
  }
}

/** If ggml needs this file, loading ggml fails and names it. */
function loadIfPossible(file: string): void {
  try {
    load(file);
  } catch (error) {
    process.stderr.write(`llama warn: ${errorMessage(error)}\n`);
  }
}

const remedyFor = ({ isOwn }: LibraryFiles): string =>
  isOwn
    ? 'name the folder of its source, so that its headers can be checked, or run: hearth library build'
    : 'install Hearth again';

export function bind(handle: LibraryHandle, table: Table, file: string): Record<string, unknown> {
  const bound: Record<string, unknown> = {};
  for (const [name, { result, parameters }] of Object.entries(table)) {
    try {
      bound[name] = handle.func(name, result, [...parameters]);
    } catch (error) {
      const reason = errorMessage(error);
      throw new Error(`${file} is not the llama.cpp that Hearth needs: ${name}: ${reason}`, { cause: error });
    }
  }
  return bound;
}
