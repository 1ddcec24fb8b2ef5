/** Source of llama.cpp: the pinned release from npm's node-llama-cpp, another release by git, or a folder. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { moveDurably, temporaryName } from '../../../lib/files/durable.ts';
import { LLAMA_CPP_RELEASE, PACKAGE_VERSION } from '../../../lib/files/native-library.ts';
import { downloadPinned, type PackageSource } from '../download.ts';
import type { PinnedFile } from '../pinned-file.ts';
import { unpackTarball } from '../tarball.ts';
import { impossible } from './toolchain.ts';
import { runLogged } from './run-logged.ts';

export const REPOSITORY = 'https://github.com/ggml-org/llama.cpp';

/** Its `llama/` contains, as a git bundle, the release that the packages were made from. */
export const sourcePackage = (registry: string): PinnedFile => ({
  label: `node-llama-cpp@${PACKAGE_VERSION}`,
  url: `${registry}/node-llama-cpp/-/node-llama-cpp-${PACKAGE_VERSION}.tgz`,
  integrity:
    'sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==',
  downloadBytes: 35_735_663,
});

export interface Source {
  readonly folder: string;
  readonly origin: string;
  readonly release: string;
}

export type SourceChoice =
  | { readonly kind: 'pinned' }
  | { readonly kind: 'release'; readonly tag: string; readonly repository: string }
  | { readonly kind: 'folder'; readonly folder: string };

export function sourceChoice(flags: {
  readonly release?: string;
  readonly source?: string;
  readonly repository?: string;
}): SourceChoice {
  if (flags.source !== undefined) return { kind: 'folder', folder: resolve(flags.source) };
  const isPinned = flags.release === undefined || flags.release === LLAMA_CPP_RELEASE;
  if (isPinned && flags.repository === undefined) return { kind: 'pinned' };
  const tag = flags.release ?? LLAMA_CPP_RELEASE;
  if (!/^[\w][\w./+-]{0,99}$/.test(tag))
    throw impossible(`"${tag.slice(0, 100)}" is no name of a release`, 'give a tag such as v0.6.0');
  return { kind: 'release', tag, repository: flags.repository ?? REPOSITORY };
}

export function describeSource(choice: SourceChoice): string {
  if (choice.kind === 'folder') return choice.folder;
  if (choice.kind === 'release') return `${choice.repository} at ${choice.tag}`;
  return `llama.cpp ${LLAMA_CPP_RELEASE} of npm's node-llama-cpp@${PACKAGE_VERSION}`;
}

export interface Fetching {
  readonly work: string;
  readonly log: string;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: () => Promise<PackageSource>;
}

export async function provideSource(choice: SourceChoice, fetching: Fetching): Promise<Source> {
  if (choice.kind === 'folder') return folderSource(choice.folder);
  const name = choice.kind === 'pinned' ? LLAMA_CPP_RELEASE : choice.tag.replaceAll('/', '-');
  const folder = join(fetching.work, 'sources', name);
  const origin = choice.kind === 'pinned' ? `npm:node-llama-cpp@${PACKAGE_VERSION}` : choice.repository;
  if (!existsSync(folder))
    await (choice.kind === 'pinned' ? fetchPinned(folder, fetching) : cloneRelease(choice, folder, fetching));
  const commit = await git(['-C', folder, 'rev-parse', 'HEAD'], fetching).catch(() => '');
  const release = choice.kind === 'pinned' ? LLAMA_CPP_RELEASE : choice.tag;
  return { folder, origin: commit === '' ? origin : `${origin} (commit ${commit.trim()})`, release };
}

function folderSource(folder: string): Source {
  if (!existsSync(join(folder, 'CMakeLists.txt')) || !existsSync(join(folder, 'include', 'llama.h'))) {
    throw impossible(
      `${folder} is not the source of llama.cpp (it lacks CMakeLists.txt or include/llama.h)`,
      'name the folder of a checkout',
    );
  }
  return { folder, origin: folder, release: folder.split(/[\\/]/).at(-1) ?? 'source' };
}

async function fetchPinned(folder: string, fetching: Fetching): Promise<void> {
  const source = await fetching.registry();
  const wanted = sourcePackage(source.registry);
  await intoPlace(folder, fetching, async (stage) => {
    const archive = `${stage}.tgz`;
    try {
      await downloadPinned(source, wanted, archive);
      source.onEvent({ status: 'unpacking', file: wanted.label });
      await unpackTarball(archive, `${stage}.package`, 'llama');
      await clone(['--no-tags', join(`${stage}.package`, 'llama', 'gitRelease.bundle'), stage], fetching);
    } finally {
      await rm(archive, { force: true });
      await rm(`${stage}.package`, { recursive: true, force: true });
    }
  });
}

async function cloneRelease(
  { tag, repository }: SourceChoice & { kind: 'release' },
  folder: string,
  fetching: Fetching,
): Promise<void> {
  await intoPlace(folder, fetching, (stage) =>
    clone(['--depth', '1', '--branch', tag, '--', repository, stage], fetching).catch((error: unknown) => {
      throw impossible(
        `${repository} has no release ${tag} that git can fetch (${lastLine(error)})`,
        'check the name and the network',
      );
    }),
  );
}

async function intoPlace(
  folder: string,
  { work }: Fetching,
  fill: (stage: string) => Promise<unknown>,
): Promise<void> {
  const parent = join(work, 'sources');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const stage = join(parent, temporaryName('source'));
  try {
    await fill(stage);
    await moveDurably(stage, folder);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Runs no hook and no filter of the user's. */
const clone = (args: readonly string[], fetching: Fetching): Promise<string> =>
  git(
    ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false', 'clone', '--quiet', ...args],
    fetching,
  );

async function git(args: readonly string[], { log, signal, env }: Fetching): Promise<string> {
  const lines: string[] = [];
  await runLogged('git', args, {
    log,
    signal,
    env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_LFS_SKIP_SMUDGE: '1' },
    onLine: (line) => lines.push(line),
  });
  return lines.join('\n');
}

const lastLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n').at(-1) ?? '';
