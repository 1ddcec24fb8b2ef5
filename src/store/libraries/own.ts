/**
 * The user's own build of llama.cpp into the home folder and out again: copy beside → try → rename. What is copied stays
 * as it is when the build goes on, and is hashed as a package is.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Static, Type } from '#typebox';
import { Check } from '#typebox/value';
import { fail, isFailure, messageOf } from '../../lib/errors/svc-error.ts';
import { makeFolder, moveDurably, temporaryName } from '../../lib/files/durable.ts';
import {
  builtLibraries,
  librariesIn,
  LLAMA_CPP_RELEASE,
  outdatedOwnLibraries,
  ownLibrary,
  ownLibraryFolder,
} from '../../lib/files/native-library.ts';
import { lockFolder, removeLeftovers, removeWhole } from './install.ts';

/** Where a build keeps its libraries, below what people call its folder. */
const BELOW = ['.', 'bin', 'lib', 'lib64', 'build/bin', 'build/lib', 'bin/Release', 'build/bin/Release'];
const NOTE = 'build.json';

/** What is remembered of a build. */
export const OwnBuild = Type.Object({
  /** The folder that it was copied from. */
  from: Type.String(),
  /** ISO 8601. */
  copiedAt: Type.String(),
});
export type OwnBuild = Static<typeof OwnBuild>;

export interface OwnInstall {
  /** The folder of libraries. */
  readonly libraries: string;
  readonly from: string;
  readonly nowMs: number;
  /** Binds what lies in such a folder of libraries and runs a model on it; rejects with one sentence when that fails. */
  readonly tryOut: (libraries: string) => Promise<unknown>;
  /** Of the files of a folder; null when they are no llama.cpp. */
  readonly hash: (folder: string) => Promise<string | null>;
}

export interface Installed {
  /** The folder that it was copied from. */
  readonly from: string;
  /** `same`: the same bytes were there before, and are left alone, so that a running service keeps its files. */
  readonly change: 'new' | 'replaced' | 'same';
}

/** Takes the place of an earlier one. */
export async function installOwn({ libraries, from, nowMs, tryOut, hash }: OwnInstall): Promise<Installed> {
  const source = await findBuild(from);
  await makeFolder(libraries);
  const lock = await lockFolder(libraries, 'hearth library use');
  const stage = join(libraries, temporaryName('own'));
  try {
    await removeLeftovers(libraries);
    const staged = ownLibraryFolder(stage);
    await mkdir(staged, { recursive: true });
    for (const name of builtLibraries(await readdir(source))) {
      await copyFile(join(source, name), join(staged, name)).catch((error: unknown) => {
        throw refused(source, `${name} cannot be copied: ${messageOf(error)}`);
      });
    }
    await tryOut(stage).catch((error: unknown) => {
      throw refused(source, reasonOf(error).replaceAll(staged, 'the copy'));
    });
    const current = ownLibraryFolder(libraries);
    const before = existsSync(current) ? await hash(current) : null;
    if (before !== null && before === (await hash(staged))) return { from: source, change: 'same' };
    const note: OwnBuild = { from: source, copiedAt: new Date(nowMs).toISOString() };
    await writeFile(join(dirname(staged), NOTE), `${JSON.stringify(note)}\n`);
    await removeOwnFolders(libraries);
    await moveDurably(dirname(staged), dirname(ownLibraryFolder(libraries)));
    return { from: source, change: before === null ? 'new' : 'replaced' };
  } finally {
    await rm(stage, { recursive: true, force: true });
    await lock.release();
  }
}

/** False when there was none. A worker that has it open keeps it until it ends. */
export async function removeOwn(libraries: string): Promise<boolean> {
  if (ownFolders(libraries).length === 0) return false;
  const lock = await lockFolder(libraries, 'hearth library remove');
  try {
    await removeOwnFolders(libraries);
    return true;
  } finally {
    await lock.release();
  }
}

/** Null when there is none, or nothing is remembered of it. */
export async function readOwn(libraries: string): Promise<OwnBuild | null> {
  const text = await readFile(join(dirname(ownLibraryFolder(libraries)), NOTE), 'utf8').catch(() => null);
  const note = text === null ? null : parsed(text);
  return Check(OwnBuild, note) ? note : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Only words for people are in it.
    return null;
  }
}

/** What to say where a build of the user's own lies there that this version of Hearth cannot use; null otherwise. */
export function outdatedHint(libraries: string): string | null {
  if (ownLibrary(libraries) !== null || outdatedOwnLibraries(libraries).length === 0) return null;
  return `Your own build of llama.cpp is not used, because this version of Hearth needs ${LLAMA_CPP_RELEASE}; build that and run: hearth library use FOLDER, or return to the one that comes with Hearth: hearth library remove`;
}

/** Those of other versions of Hearth as well. */
function ownFolders(libraries: string): string[] {
  const current = dirname(ownLibraryFolder(libraries));
  return [...(existsSync(current) ? [current] : []), ...outdatedOwnLibraries(libraries)];
}

async function removeOwnFolders(libraries: string): Promise<void> {
  for (const folder of ownFolders(libraries)) await removeWhole(folder);
}

async function findBuild(from: string): Promise<string> {
  const folder = resolve(from);
  const found = await stat(folder).catch(() => null);
  if (found === null) throw refused(folder, 'there is no such folder');
  if (!found.isDirectory()) throw refused(folder, 'it is a file; name the folder of the libraries');
  for (const below of BELOW) {
    const place = join(folder, below);
    if (existsSync(place) && librariesIn(place)?.isOwn === true) return place;
  }
  throw refused(
    folder,
    `neither it nor ${BELOW.slice(1).join(', ')} below it has the shared libraries llama, ggml and ggml-base; build the release ${LLAMA_CPP_RELEASE} with -DBUILD_SHARED_LIBS=ON`,
  );
}

function reasonOf(error: unknown): string {
  const isOfWorker = isFailure(error, 'native_unavailable', 'worker_crashed', 'worker_hung');
  const reason = isOfWorker ? error.detail.reason : messageOf(error);
  const [signal] = /SIG(?:BUS|SEGV|ILL|ABRT|FPE)/.exec(reason) ?? [];
  if (signal === undefined) return reason;
  return isFailure(error, 'native_unavailable')
    ? `a library is damaged, or built for another processor (it ended the process with ${signal})`
    : `no model can be loaded with it (it ended the process with ${signal}); build it again, with the compiler's own C++ library`;
}

const refused = (folder: string, reason: string): Error =>
  fail('own_library_refused', { folder, reason, param: 'folder' });
