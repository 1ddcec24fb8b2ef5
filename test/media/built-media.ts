/**
 * The folder of libraries with a libmtmd in it: HEARTH_MEDIA_LIBRARIES names one, or `hearth library build --media` makes
 * one below generated/, once. Where there is no compiler, the suite is left out and says so.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import {
  findLibraries,
  librariesFolder,
  mediaLibrary,
  ownLibrary,
} from '../../src/lib/files/native-library.ts';
import { hearth } from '../support/process/hearth.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Null: there is none, and none can be built here. */
    readonly mediaLibraries: string | null;
  }
}

const HOME = fileURLToPath(new URL('../../generated/media-home/', import.meta.url));

export async function setup(project: TestProject): Promise<void> {
  project.provide('mediaLibraries', await libraries());
}

async function libraries(): Promise<string | null> {
  const given = process.env['HEARTH_MEDIA_LIBRARIES'] ?? librariesFolder(HOME);
  if (hasMedia(given)) return given;
  const source = process.env['HEARTH_LLAMA_SOURCE'];
  const more = source === undefined ? [] : ['--source', source];
  const { code, stderr } = await hearth(['library', 'build', '--media', ...more], { SVC_HOME: HOME });
  if (code === 0 && hasMedia(given)) return given;
  process.stderr.write(
    `libmtmd is not built here, so its tests are left out: ${stderr.split('\n')[0] ?? ''}\n`,
  );
  return null;
}

function hasMedia(folder: string): boolean {
  const files = ownLibrary(folder) ?? findLibraries('cpu', folder);
  return existsSync(join(folder)) && files !== null && mediaLibrary(files, folder) !== null;
}
