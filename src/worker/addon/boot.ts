/**
 * worker/addon owns the native library: only it calls llama.cpp's C API, for the interface in worker/native.ts. It
 * knows nothing of jobs, prompts or batches. This file opens the prebuilt library and reports what was bound; it
 * never builds or downloads.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { BackendFacts } from '../../contract/load.ts';
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { describeDevices, firstGpuKind, isGpu } from './devices.ts';
import {
  CUDA_FALLBACK,
  findLibraries,
  type LibraryFiles,
  mediaLibrary,
  ownLibrary,
  type PackageKind,
} from '../../lib/files/native-library.ts';
import { platformKey, platformLibrary } from '../../lib/files/platforms.ts';
import { GPU_PACKAGES, gpuSupport, isLoadable } from './gpu-support.ts';
import { type Library, openLibrary } from './library/open.ts';
import { NativeLog } from './library/log.ts';
import { type MediaLibrary, openMediaLibrary } from './media-library.ts';
import { memoryReader } from './memory.ts';
import { type Native, refusedOptions } from './params.ts';
import { isOutOfMemory, measure, openModel, openTexts } from './model.ts';
import type { NativeBackend } from '../native.ts';
import { physicalCores } from './library/physical-cores.ts';
import { boundFiles, describeHost, strayFile } from './process-facts.ts';
import { samplersFor } from './sampling/chain.ts';
import koffi from 'koffi';
import type { Pointer, ThreadpoolParams } from './library/layouts.ts';
import { cpuDevice } from './library/devices.ts';

type BoundKind = PackageKind | 'own';

export async function bootNative(
  gpuSetting: string | undefined,
  libraries: string | null = null,
): Promise<NativeBackend> {
  const { kind, files } = chooseLibraries(gpuSetting, libraries);
  const library = openLibrary(files);
  const log = new NativeLog(library);
  loadBackends(library, kind);
  library.llama_backend_init();
  const cores = Math.min(availableParallelism(), await physicalCores());
  const allowed = kind === 'own' ? gpuOfOwn(library, gpuSetting) : null;
  const devices = () =>
    describeDevices(library).filter((device) => kind !== 'own' || allowed !== null || !isGpu(device));
  const atBoot = devices();
  const hasGpu = atBoot.some(isGpu);
  const media = openMedia(mediaLibrary(files, libraries), log);
  const native: Native = {
    library,
    log,
    threadpool: openThreadpool(library, availableParallelism()),
    readMemory: memoryReader(library),
    hasGpu,
    media,
  };
  const stray = strayFile(files.folder);
  if (stray !== null)
    throw new Error(`llama.cpp loads ${stray}, which is not among the libraries of ${files.folder}`);
  const mapped = boundFiles(files.folder);
  const facts: BackendFacts = {
    folder: files.folder,
    mapped: mapped.map(({ path }) => path),
    systemInfo: library.llama_print_system_info(),
    version: library.llama_version(),
    gpu: hasGpu ? (allowed ?? kind) : 'none',
    cpuMathCores: cores,
    devices: atBoot,
    sharesCells: true,
    media: media !== null,
    gpuSupport: kind === 'own' ? [] : gpuSupport(libraries),
  };
  return {
    facts,
    devices,
    samplersFor,
    host: () => describeHost(files.folder, { files: mapped, systemInfo: facts.systemInfo }),
    openModel: (path, options, onProgress) => openModel(native, { path, options }, onProgress),
    openTexts: (path) => openTexts(native, path),
    refusedOptions: (options) => refusedOptions(native, options),
    measure: (path, options, contexts) => measure(native, { path, options }, contexts),
    isOutOfMemory,
    readsMedia: media !== null,
  };
}

function openMedia(file: string | null, log: NativeLog): MediaLibrary | null {
  if (file === null) return null;
  try {
    const media = openMediaLibrary(file);
    log.attach((callback) => media.mtmd_helper_log_set(callback, null));
    return media;
  } catch (error) {
    process.stderr.write(`Images cannot be read: ${errorMessage(error)}\n`);
    return null;
  }
}

function loadBackends(library: Library, kind: BoundKind): void {
  const { folder } = library.files;
  if (describeDevices(library).length > 0) return;
  library.ggml_backend_load_all_from_path(folder);
  const fallback = join(folder, CUDA_FALLBACK);
  if (kind === 'cpu' || describeDevices(library).some(isGpu) || !existsSync(fallback)) return;
  library.ggml_backend_load_all_from_path(fallback);
}

function gpuOfOwn(library: Library, setting: string | undefined): string | null {
  const found = firstGpuKind(library);
  if (setting === 'off') return null;
  if (setting === undefined || setting === '' || setting === 'auto' || setting === found) return found;
  throw new Error(
    `SVC_GPU=${setting} cannot be met, because your own build of llama.cpp ${found === null ? 'has no GPU' : `uses ${found}`}; set it to auto or off, or build llama.cpp for ${setting}`,
  );
}

/**
 * The user's own build takes precedence. `auto`: the first GPU package that the machine can use, else the CPU
 * package.
 */
function chooseLibraries(
  setting: string | undefined,
  libraries: string | null,
): { kind: BoundKind; files: LibraryFiles } {
  const own = ownLibrary(libraries);
  if (own !== null) return { kind: 'own', files: own };
  for (const kind of candidateKinds(setting)) {
    const files = findLibraries(kind, libraries);
    if (files !== null && isLoadable(kind, files)) return { kind, files };
  }
  throw new Error(whyNone(setting));
}

function whyNone(setting: string | undefined): string {
  const platform = platformKey();
  if (setting === 'cuda' || setting === 'vulkan')
    return `SVC_GPU=${setting} cannot be met on ${platform}, because its library or what that needs is missing; hearth gpu says which`;
  return platformLibrary() === null
    ? `Hearth comes with no llama.cpp library for ${platform}; compile one: hearth library build`
    : `no llama.cpp library for ${platform} is installed; install Hearth again with its optional packages, or compile one: hearth library build`;
}

function candidateKinds(setting: string | undefined): readonly PackageKind[] {
  const silicon = process.platform === 'darwin' && process.arch === 'arm64';
  // Apple silicon has no package without Metal.
  const cpu: PackageKind = silicon ? 'metal' : 'cpu';
  if (setting === undefined || setting === '' || setting === 'auto') return [...GPU_PACKAGES, cpu];
  const named = GPU_PACKAGES.find((kind) => kind === setting);
  return named === undefined ? [cpu] : [named];
}

/** Waiting threads spin a little and then sleep; more steals time from the server on few cores. */
const POLL = 0;

/** Null if the CPU library offers no pool, or the process may not start its threads. */
function openThreadpool(library: Library, threads: number): Pointer | null {
  const device = cpuDevice(library);
  if (device === null || threads < 2) return null;
  const registry = library.ggml_backend_dev_backend_reg(device);
  const open = library.ggml_backend_reg_get_proc_address(registry, 'ggml_threadpool_new');
  if (open === null) return null;
  const params: Partial<ThreadpoolParams> = {};
  library.ggml_threadpool_params_init(params, threads);
  const create = koffi.proto('void* ggml_threadpool_new(ggml_threadpool_params* params)');
  return koffi.call(open, create, { ...params, poll: POLL }) as Pointer | null;
}
