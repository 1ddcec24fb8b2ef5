/**
 * store/libraries/build owns the compilation of llama.cpp: fetch, compare headers, configure, compile. It knows
 * nothing of installed libraries, and loads none. An interrupted build keeps its results for the next one.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, isSvcError, errorMessage } from '../../../lib/errors/svc-error.ts';
import { requireSpace } from '../../../lib/files/disk-space.ts';
import { moveDurably, temporaryName } from '../../../lib/files/durable.ts';
import { isTestedRelease } from '../../../lib/files/native-library.ts';
import { lockFolder, staged } from '../install.ts';
import { downloadPinned, type PackageSource } from '../download.ts';
import type { Agreement, Making } from '../own.ts';
import type { LibraryFiles } from '../../../lib/files/native-library.ts';
import { compareHeaders, headerFolders } from './headers.ts';
import { mediaOptions, writeMediaProject } from './media.ts';
import { type BuildChoice, cmakeOptions, buildTargets } from './options.ts';
import { type OnBuildEvent, secondsLeft, type Step, parseStep } from './progress.ts';
import { runLogged, type RunOptions } from './run-logged.ts';
import { provideSource, type Source, type SourceChoice } from './source.ts';
import { type Found, impossible, type Toolchain } from './toolchain.ts';
import type { Tool } from './tools.ts';
import { unpackWheel } from '../wheel.ts';

const DISK_BYTES = 1_000_000_000;
const UNPACKED_TIMES = 4;

export interface BuildRequest extends BuildChoice {
  readonly work: string;
  readonly source: SourceChoice;
  readonly found: Found;
  readonly jobs: number;
  readonly platform: NodeJS.Platform;
  readonly signal: AbortSignal;
  readonly onEvent: OnBuildEvent;
  readonly registry: () => Promise<PackageSource>;
  readonly toolsHost: () => Promise<PackageSource>;
  readonly nowMs: () => number;
  /** Builds only libmtmd, against these libraries; absent: llama.cpp itself. */
  readonly against?: LibraryFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Built {
  readonly folder: string;
  readonly agreement: Agreement;
  readonly made: Making;
  readonly release: string;
  clear(): Promise<void>;
}

export const toolsFolder = (work: string): string => join(work, 'tools');

export async function buildLibrary(request: BuildRequest): Promise<Built> {
  const { work, found, nowMs } = request;
  const startMs = nowMs();
  await mkdir(work, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(work, 'hearth library build');
  try {
    const toFetch = found.missing.reduce((sum, { downloadBytes }) => sum + downloadBytes, 0);
    await requireSpace(work, DISK_BYTES + UNPACKED_TIMES * toFetch);
    for (const tool of found.missing) await fetchTool(tool, request);
    const run = {
      log: join(work, 'build.log'),
      signal: request.signal,
      env: { ...request.env, ...zigCaches(work) },
    };
    await rm(run.log, { force: true });
    const source = await provideSource(request.source, { ...request, log: run.log });
    const agreement = await checkHeaders(source, request, run);
    const { folder, options } = await compile(source, request, run);
    return {
      folder: join(folder, 'bin'),
      agreement,
      release: source.release,
      made: {
        source: source.origin,
        compiler: found.toolchain.compiler,
        cmake: found.toolchain.cmake.version,
        options,
        seconds: Math.round((nowMs() - startMs) / 1000),
      },
      clear: () => clear(request, folder),
    };
  } finally {
    await lock.release();
  }
}

async function clear({ work }: BuildRequest, folder: string): Promise<void> {
  for (const path of [folder, join(work, 'sources'), join(work, 'probe')])
    await rm(path, { recursive: true, force: true });
}

async function fetchTool(tool: Tool, { work, toolsHost }: BuildRequest): Promise<void> {
  const source = await toolsHost();
  const folder = toolsFolder(work);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await staged(folder, async ({ stage, archive }) => {
    await downloadPinned(source, tool, archive);
    source.onEvent({ status: 'unpacking', file: tool.label });
    await unpackWheel(archive, stage);
    await moveDurably(stage, join(folder, `${tool.name}-${tool.version}`));
  });
}

/** For a release that Hearth's tests do not cover, different headers end the build before it compiles anything. */
async function checkHeaders(source: Source, request: BuildRequest, run: RunOptions): Promise<Agreement> {
  request.onEvent({ status: 'checking headers' });
  const headers = headerFolders(source.folder);
  if (headers === null)
    throw impossible(`${source.folder} lacks llama.h or ggml's headers`, 'name the folder of a checkout');
  const probing = { headers, toolchain: request.found.toolchain, work: join(request.work, 'probe'), run };
  const agreement = await compareHeaders(probing).catch((error: unknown) => {
    throw failed('the compiler does not work', run.log, error);
  });
  if (agreement.api === null) {
    throw impossible(
      `llama.cpp ${source.release} cannot be called by this version of Hearth: ${agreement.reason}`,
      isTestedRelease(source.release)
        ? 'take an unchanged source'
        : 'take a release nearer to the one that Hearth comes with, or update Hearth',
    );
  }
  return agreement;
}

async function compile(
  source: Source,
  request: BuildRequest,
  run: RunOptions,
): Promise<{ readonly folder: string; readonly options: string[] }> {
  const { onEvent, found, jobs } = request;
  const { toolchain } = found;
  const folder = join(request.work, 'objects', objectsName(source, request, toolchain));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { project, options, targets: wanted } = await prepareProject(source, request, folder);
  onEvent({ status: 'configuring' });
  const generator =
    toolchain.ninja === null ? [] : ['-G', 'Ninja', `-DCMAKE_MAKE_PROGRAM=${toolchain.ninja}`];
  const configure = ['-S', project, '-B', folder, ...generator, ...toolchain.options, ...options];
  await runLogged(toolchain.cmake.path, configure, run).catch((error: unknown) => {
    throw failed('CMake cannot configure llama.cpp', run.log, error);
  });
  const startMs = request.nowMs();
  const tell = (step: Step): void =>
    onEvent({ status: 'compiling', ...step, secondsLeft: secondsLeft(step, request.nowMs() - startMs) });
  const targets = wanted.flatMap((target) => ['--target', target]);
  const build = ['--build', folder, '--config', 'Release', '--parallel', String(jobs), ...targets];
  const onLine = (line: string): void => {
    const step = parseStep(line);
    if (step !== null) tell(step);
  };
  await runLogged(toolchain.cmake.path, build, { ...run, onLine }).catch((error: unknown) => {
    throw failed('llama.cpp does not compile', run.log, error);
  });
  return { folder, options };
}

interface Project {
  readonly project: string;
  readonly options: string[];
  readonly targets: readonly string[];
}

async function prepareProject(source: Source, request: BuildRequest, folder: string): Promise<Project> {
  const { against, platform, work } = request;
  if (against === undefined) {
    return {
      project: source.folder,
      options: cmakeOptions(request, platform),
      targets: buildTargets(request),
    };
  }
  const project = join(work, 'media');
  await writeMediaProject(project);
  const options = mediaOptions(against, { source: source.folder, output: join(folder, 'bin'), platform });
  return { project, options, targets: ['mtmd'] };
}

/** Never mixes objects of different sources, compilers or options. */
function objectsName(
  { release }: Source,
  { gpu, media, against }: BuildRequest,
  { compiler }: Toolchain,
): string {
  const tool = compiler.replaceAll(/[^\w.]+/g, '-').slice(0, 40);
  const kind = against === undefined ? [gpu, ...(media ? ['media'] : [])] : ['media-only'];
  return [release.replaceAll(/[^\w.+-]/g, '-').slice(0, 60), ...kind, tool].join('_');
}

const zigCaches = (work: string): Record<string, string> => ({
  ZIG_GLOBAL_CACHE_DIR: join(work, 'tools', 'zig-cache'),
  ZIG_LOCAL_CACHE_DIR: join(work, 'tools', 'zig-cache'),
});

function failed(what: string, log: string, error: unknown): unknown {
  if (isSvcError(error) || (error instanceof Error && error.name === 'AbortError')) return error;
  const reason = errorMessage(error);
  return fail('library_build_failed', { what, log, output: reason.slice(-4000) }, error);
}

/** For a folder built by another program: compares if it has headers and there is a compiler. */
export async function agreementOfFolder(
  folder: string,
  {
    toolchain,
    work,
    signal,
    env,
  }: Pick<BuildRequest, 'work' | 'signal' | 'env'> & { readonly toolchain: Toolchain | null },
): Promise<Agreement> {
  const headers =
    headerFolders(folder) ?? headerFolders(join(folder, '..')) ?? headerFolders(join(folder, '..', '..'));
  if (headers === null) return { api: null, reason: 'no headers of it were found to check' };
  if (toolchain === null)
    return { api: null, reason: 'there is no C++ compiler and CMake here to check its headers with' };
  await mkdir(work, { recursive: true, mode: 0o700 });
  const probe = join(work, temporaryName('probe'));
  try {
    const run = { log: `${probe}.log`, signal, env };
    return await compareHeaders({ headers, toolchain, work: probe, run });
  } catch (error) {
    signal.throwIfAborted();
    return {
      api: null,
      reason: `its headers could not be checked: ${errorMessage(error).split('\n').at(-1) ?? ''}`,
    };
  } finally {
    await rm(probe, { recursive: true, force: true });
    await rm(`${probe}.log`, { force: true });
    if (existsSync(work)) await rm(join(work, 'probe'), { recursive: true, force: true });
  }
}
