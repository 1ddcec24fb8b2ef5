/**
 * Installs the user's own builds of llama.cpp: copy, try, rename, select. The copy does not change when the build is
 * continued, and is hashed like a package. Several are kept and at most one is selected; selecting moves no file.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import { fail, isFailure, errorMessage } from '../../lib/errors/svc-error.ts';
import { ifMissing, makeFolder, moveDurably, temporaryName, writeDurably } from '../../lib/files/durable.ts';
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
import { readRecord } from '../../lib/files/record-file.ts';
import { platformLibrary } from '../../lib/files/platforms.ts';
import { lockFolder, removeLeftovers, removeWhole } from './install.ts';

const BELOW = ['.', 'bin', 'lib', 'lib64', 'build/bin', 'build/lib', 'bin/Release', 'build/bin/Release'];
const NOTE = 'build.json';

/** Milliseconds of the measured work: `build` on this build, `present` on the library in use before. */
export const Measured = Type.Object({ model: Type.String(), build: Type.Number(), present: Type.Number() });
export type Measured = Static<typeof Measured>;

export const Making = Type.Object({
  /** `npm:node-llama-cpp@…`, a repository with its commit, or a folder. */
  source: Type.String(),
  compiler: Type.String(),
  cmake: Type.String(),
  options: Type.Array(Type.String()),
  seconds: Type.Number(),
});
export type Making = Static<typeof Making>;

export const OwnBuild = Type.Object({
  from: Type.String(),
  /** ISO 8601. */
  copiedAt: Type.String(),
  made: Type.Optional(Making),
  measured: Type.Optional(Measured),
});
export type OwnBuild = Static<typeof OwnBuild>;

/**
 * Comparison of a build's headers with Hearth's declarations: `api` if they agree, otherwise the reason why that is
 * unknown.
 */
export type Agreement = { readonly api: string } | { readonly api: null; readonly reason: string };

export interface OwnInstall {
  readonly libraries: string;
  readonly from: string;
  readonly name: string;
  readonly nowMs: number;
  readonly agreement: Agreement;
  /** Loads the libraries and runs a model on them; rejects with one sentence if that fails. */
  readonly tryOut: (libraries: string) => Promise<{ readonly version?: string }>;
  readonly hash: (folder: string) => Promise<string | null>;
  readonly made?: Making;
  readonly isForLater?: boolean;
  /** Compares with the library in use; absent: selects the build without a comparison. */
  readonly measure?: (libraries: string) => Promise<Measured | null>;
}

export interface Installed {
  readonly from: string;
  /** `same`: the bytes were already there and are left alone, so that a running service keeps its files. */
  readonly change: 'new' | 'replaced' | 'same';
  readonly facts: BuildFacts;
  readonly measured: Measured | null;
  readonly isSelected: boolean;
}

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

/** Writes the facts twice: the release is known only after the trial, and the worker needs the comparison before it. */
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

export async function listOwn(libraries: string): Promise<KeptBuild[]> {
  const { selected } = readSelection(libraries);
  const entries = await readdir(buildsFolder(libraries), { withFileTypes: true }).catch(ifMissing([]));
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

/**
 * Without a name, removes the selected build and those of earlier versions of Hearth. False if there was none. A
 * worker that has it open keeps it until it ends.
 */
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
    // The user's files may be there.
    return rmdir(buildsFolder(libraries)).catch(() => {});
  }
  const next = { selected: selected === name ? null : selected, before: before === name ? null : before };
  await writeDurably(selectionFile(libraries), `${JSON.stringify(next)}\n`);
}

export async function readOwn(libraries: string, name: string): Promise<OwnBuild | null> {
  return readRecord(join(buildFolder(libraries, name), NOTE), OwnBuild);
}

/** Note at the start of the service: a build that this version cannot use, or a slow package; otherwise null. */
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
