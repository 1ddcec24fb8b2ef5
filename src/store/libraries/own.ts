/**
 * The user's own builds of llama.cpp into the home folder and out again: copy beside → try → rename → select. What is
 * copied stays as it is when the build goes on, and is hashed as a package is. Several are kept; one of them or none is
 * selected, and selecting moves no file.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { fail, isFailure, errorMessage } from '../../lib/errors/svc-error.ts';
import { makeFolder, moveDurably, temporaryName, writeDurably } from '../../lib/files/durable.ts';
import {
  BUILD_FACTS,
  type BuildFacts,
  buildFolder,
  buildsFolder,
  builtBins,
  builtLibraries,
  isBuildName,
  isTestedRelease,
  librariesIn,
  LLAMA_CPP_RELEASE,
  outdatedOwnLibraries,
  ownLibrary,
  PACKAGED,
  readBuildFacts,
  readSelection,
  selectionFile,
} from '../../lib/files/native-library.ts';
import { platformLibrary } from '../../lib/files/platforms.ts';
import { lockFolder, removeLeftovers, removeWhole } from './install.ts';

/** Subfolders of a build's folder that may hold its libraries. */
const BELOW = ['.', 'bin', 'lib', 'lib64', 'build/bin', 'build/lib', 'bin/Release', 'build/bin/Release'];
const NOTE = 'build.json';

/** Milliseconds of the measured work: `build` on this build, `present` on the library that was in use. */
export const Measured = Type.Object({ model: Type.String(), build: Type.Number(), present: Type.Number() });
export type Measured = Static<typeof Measured>;

/** Facts of a build made by Hearth. */
export const Making = Type.Object({
  /** `npm:node-llama-cpp@…`, or a repository with its commit, or a folder. */
  source: Type.String(),
  compiler: Type.String(),
  cmake: Type.String(),
  options: Type.Array(Type.String()),
  seconds: Type.Number(),
});
export type Making = Static<typeof Making>;

export const OwnBuild = Type.Object({
  /** The folder that it was copied from. */
  from: Type.String(),
  /** ISO 8601. */
  copiedAt: Type.String(),
  made: Type.Optional(Making),
  measured: Type.Optional(Measured),
});
export type OwnBuild = Static<typeof OwnBuild>;

/** Whether a build's headers agree with Hearth's declarations: `api` if they do, otherwise why that is unknown. */
export type Agreement = { readonly api: string } | { readonly api: null; readonly reason: string };

export interface OwnInstall {
  readonly libraries: string;
  readonly from: string;
  readonly name: string;
  readonly nowMs: number;
  readonly agreement: Agreement;
  /** Binds what lies in such a folder of libraries and runs a model on it; rejects with one sentence when that fails. */
  readonly tryOut: (libraries: string) => Promise<{ readonly version?: string }>;
  /** Facts of a folder's files; null if they are not llama.cpp. */
  readonly hash: (folder: string) => Promise<string | null>;
  readonly made?: Making;
  /** It is kept, and not selected. */
  readonly isForLater?: boolean;
  /** Compares with what is in use now; absent: the build is selected without. */
  readonly measure?: (libraries: string) => Promise<Measured | null>;
}

export interface Installed {
  /** The folder that it was copied from. */
  readonly from: string;
  /** `same`: the same bytes were there before, and are left alone, so that a running service keeps its files. */
  readonly change: 'new' | 'replaced' | 'same';
  readonly facts: BuildFacts;
  readonly measured: Measured | null;
  /** False where the library in use was faster, or the build is for later. */
  readonly isSelected: boolean;
}

/** Takes the place of an earlier build of the same name. */
export async function installOwn(install: OwnInstall): Promise<Installed> {
  const { libraries, from, name, nowMs, hash, isForLater = false } = install;
  if (!isBuildName(name)) throw refusedName(name);
  if (isForLater && readSelection(libraries).selected === name) throw inUse(name);
  const source = await findBuild(from);
  await makeFolder(libraries);
  const lock = await lockFolder(libraries, 'hearth library');
  const stage = join(libraries, temporaryName('own'));
  try {
    await removeLeftovers(libraries);
    const staged = builtBins(stage, name);
    await copyBuild(source, staged);
    await select(stage, name);
    const facts = await triedFacts(install, { source, stage, staged });
    const current = builtBins(libraries, name);
    const before = existsSync(current) ? await hash(current) : null;
    const isSame = before !== null && before === (await hash(staged));
    if (isSame && readSelection(libraries).selected === name)
      return { from: source, change: 'same', facts, measured: null, isSelected: true };
    const measured = isForLater ? null : ((await install.measure?.(stage)) ?? null);
    const isSelected = !isForLater && (measured === null || measured.build <= measured.present);
    if (!isSame) {
      const note: OwnBuild = {
        from: source,
        copiedAt: new Date(nowMs).toISOString(),
        ...(install.made === undefined ? {} : { made: install.made }),
        ...(measured === null ? {} : { measured }),
      };
      await writeFile(join(dirname(staged), NOTE), `${JSON.stringify(note)}\n`);
      await makeFolder(buildsFolder(libraries));
      if (existsSync(buildFolder(libraries, name))) await removeWhole(buildFolder(libraries, name));
      await moveDurably(dirname(staged), buildFolder(libraries, name));
    }
    if (isSelected) await select(libraries, name);
    await removeEarlier(libraries);
    return {
      from: source,
      change: isSame ? 'same' : before === null ? 'new' : 'replaced',
      facts,
      measured,
      isSelected,
    };
  } finally {
    await rm(stage, { recursive: true, force: true });
    await lock.release();
  }
}

async function copyBuild(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const file of builtLibraries(await readdir(source))) {
    await copyFile(join(source, file), join(target, file)).catch((error: unknown) => {
      throw refused(source, `${file} cannot be copied: ${errorMessage(error)}`);
    });
  }
}

interface Staged {
  readonly source: string;
  readonly stage: string;
  readonly staged: string;
}

/** The facts are written twice: the release is known only after the trial, and the worker asks for the comparison before. */
async function triedFacts(install: OwnInstall, { source, stage, staged }: Staged): Promise<BuildFacts> {
  const { agreement, tryOut } = install;
  const write = (facts: BuildFacts) => writeFile(join(staged, BUILD_FACTS), `${JSON.stringify(facts)}\n`);
  if (agreement.api !== null) await write({ release: 'unknown', api: agreement.api });
  const { version = 'unknown' } = await tryOut(stage).catch((error: unknown) => {
    const reason = failureReason(error).replaceAll(staged, 'the copy');
    const isOfRelease = agreement.api === null && reason.includes(LLAMA_CPP_RELEASE);
    throw refused(source, isOfRelease ? `${reason} (${agreement.reason})` : reason);
  });
  const release = /^\d/.test(version) ? `v${version.replace(/-dev$/, '')}` : version;
  const facts = { release, api: agreement.api };
  await write(facts);
  return facts;
}

/** `null` is the library that comes with Hearth. */
async function select(libraries: string, name: string | null): Promise<void> {
  const { selected, before } = readSelection(libraries);
  await makeFolder(buildsFolder(libraries));
  const next = { selected: name, before: selected === name ? before : selected };
  await writeDurably(selectionFile(libraries), `${JSON.stringify(next)}\n`);
}

export interface KeptBuild {
  readonly name: string;
  readonly facts: BuildFacts | null;
  readonly note: OwnBuild | null;
  readonly isSelected: boolean;
  readonly isTested: boolean;
}

/** In the order of their names. */
export async function listOwn(libraries: string): Promise<KeptBuild[]> {
  const { selected } = readSelection(libraries);
  const entries = await readdir(buildsFolder(libraries), { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isDirectory() && isBuildName(entry.name))
    .map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      const facts = readBuildFacts(builtBins(libraries, name));
      return {
        name,
        facts,
        note: await readOwn(libraries, name),
        isSelected: name === selected,
        isTested: facts !== null && isTestedRelease(facts.release),
      };
    }),
  );
}

/** Without a name: back to the one before. Returns what is selected now. */
export async function switchOwn(libraries: string, wanted: string | null): Promise<string> {
  const name = wanted ?? readSelection(libraries).before ?? PACKAGED;
  const kept = (await listOwn(libraries)).map((each) => each.name);
  if (name !== PACKAGED && !kept.includes(name)) throw unknownBuild(name, kept);
  if (kept.length === 0) return PACKAGED;
  const lock = await lockFolder(libraries, 'hearth library switch');
  try {
    await select(libraries, name === PACKAGED ? null : name);
    return name;
  } finally {
    await lock.release();
  }
}

/** Without a name: the selected one, and those of earlier versions of Hearth. False when there was none. A worker that has it open keeps it until it ends. */
export async function removeOwn(libraries: string, wanted: string | null): Promise<boolean> {
  const { selected, before } = readSelection(libraries);
  const name = wanted ?? selected;
  const isThere = name !== null && isBuildName(name) && existsSync(buildFolder(libraries, name));
  if (wanted !== null && !isThere) {
    const kept = await listOwn(libraries);
    throw unknownBuild(
      wanted,
      kept.map((each) => each.name),
    );
  }
  const isStale = wanted === null && (outdatedOwnLibraries(libraries).length > 0 || selected !== null);
  if (!isThere && !isStale) return false;
  const lock = await lockFolder(libraries, 'hearth library remove');
  try {
    if (isThere) await removeWhole(buildFolder(libraries, name));
    if (wanted === null) await removeEarlier(libraries);
    await forget(libraries, { selected, before }, name);
    return true;
  } finally {
    await lock.release();
  }
}

const unknownBuild = (name: string, kept: readonly string[]): Error =>
  fail('own_library_unknown', { name, names: [PACKAGED, ...kept].join(', '), param: 'name' });

async function forget(
  libraries: string,
  { selected, before }: ReturnType<typeof readSelection>,
  name: string | null,
): Promise<void> {
  if ((await listOwn(libraries)).length === 0) {
    await rm(selectionFile(libraries), { force: true });
    // Something of the user's may lie there.
    return rmdir(buildsFolder(libraries)).catch(() => {});
  }
  const next = { selected: selected === name ? null : selected, before: before === name ? null : before };
  await writeDurably(selectionFile(libraries), `${JSON.stringify(next)}\n`);
}

/** Null if there is none, or its record is missing. */
export async function readOwn(libraries: string, name: string): Promise<OwnBuild | null> {
  const text = await readFile(join(buildFolder(libraries, name), NOTE), 'utf8').catch(() => null);
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

/**
 * Note for the start of a service: a build that this version of Hearth cannot use, or a slow package; null otherwise.
 */
export function libraryHint(libraries: string): string | null {
  const { shortfall } = platformLibrary() ?? {};
  if (ownLibrary(libraries) !== null) return null;
  if (outdatedOwnLibraries(libraries).length === 0) {
    return shortfall === undefined
      ? null
      : `The llama.cpp library for this platform ${shortfall}; compile one for this machine: hearth library build`;
  }
  return `Your own build of llama.cpp is not used, because this version of Hearth needs ${LLAMA_CPP_RELEASE} or a build that it has checked; make one: hearth library build, or return to the one that comes with Hearth: hearth library remove`;
}

/** Path of the only build in earlier versions of Hearth. */
async function removeEarlier(libraries: string): Promise<void> {
  for (const name of await readdir(libraries))
    if (name.startsWith('own@')) await removeWhole(join(libraries, name));
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
    `neither it nor ${BELOW.slice(1).join(', ')} below it has the shared libraries llama, ggml and ggml-base; build llama.cpp with -DBUILD_SHARED_LIBS=ON, or run: hearth library build`,
  );
}

function failureReason(error: unknown): string {
  const isOfWorker = isFailure(error, 'native_unavailable', 'worker_crashed', 'worker_hung');
  const reason = isOfWorker ? error.detail.reason : errorMessage(error);
  const [signal] = /SIG(?:BUS|SEGV|ILL|ABRT|FPE)/.exec(reason) ?? [];
  if (signal === undefined) return reason;
  return isFailure(error, 'native_unavailable')
    ? `a library is damaged, or built for another processor (it ended the process with ${signal})`
    : `no model can be loaded with it (it ended the process with ${signal}); build it again, with the compiler's own C++ library`;
}

const refused = (folder: string, reason: string): Error =>
  fail('own_library_refused', { folder, reason, param: 'folder' });

const refusedName = (name: string): Error =>
  fail('invalid_request', {
    param: 'name',
    message: `"${name.slice(0, 80)}" cannot be the name of a build; use up to 64 letters, digits, dots and dashes, and not "${PACKAGED}".`,
  });

const inUse = (name: string): Error =>
  fail('invalid_request', {
    param: 'name',
    message: `"${name}" is the name of the build in use; keep the other one under another name with --name.`,
  });
