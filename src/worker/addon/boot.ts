/**
 * worker/addon owns the native library: it alone calls llama.cpp's C API, behind the page worker/native.ts. It knows
 * nothing of jobs, prompts or batches.
 * This file opens the prebuilt library and says what was bound. It never builds and never downloads.
 */
import { availableParallelism } from 'node:os';
import koffi from 'koffi';
import type { BackendFacts } from '../../contract/load.ts';
import { describeDevices } from './devices.ts';
import { findLibraries, type LibraryFiles, type PackageKind } from '../../lib/files/native-library.ts';
import { openLibrary } from './library/open.ts';
import { openThreadpool } from './library/threadpool.ts';
import { NativeLog } from './log.ts';
import { memoryReader } from './memory.ts';
import { type Native, refusedOptions } from './params.ts';
import { isOutOfMemory, measure, openModel, openVocabularyOf } from './model.ts';
import type { NativeBackend } from '../native.ts';
import { physicalCores } from './library/physical-cores.ts';
import { boundFiles, hostOf } from './process-facts.ts';
import { samplersFor } from './sampling/chain.ts';

const GPU_PACKAGES: readonly PackageKind[] = ['metal', 'cuda', 'vulkan'];
/** System libraries without which a GPU package cannot work. */
const NEEDED_LIBRARIES: Readonly<
  Partial<Record<PackageKind, Readonly<Partial<Record<NodeJS.Platform, string>>>>>
> = {
  cuda: { linux: 'libcuda.so.1', win32: 'nvcuda.dll' },
  vulkan: { linux: 'libvulkan.so.1', win32: 'vulkan-1.dll' },
};

export async function bootNative(gpuSetting: string | undefined): Promise<NativeBackend> {
  const { kind, files } = chooseLibraries(gpuSetting);
  const library = openLibrary(files);
  const log = new NativeLog(library);
  library.ggml_backend_load_all_from_path(files.folder);
  library.llama_backend_init();
  const cores = Math.min(availableParallelism(), await physicalCores());
  const devices = describeDevices(library);
  const hasGpu = devices.some((device) => device.kind === 'gpu' || device.kind === 'igpu');
  const native: Native = {
    library,
    log,
    threadpool: openThreadpool(library, availableParallelism()),
    memoryOf: memoryReader(library),
    hasGpu,
  };
  const mapped = boundFiles(files.folder);
  const facts: BackendFacts = {
    folder: files.folder,
    mapped: mapped.map(({ path }) => path),
    systemInfo: library.llama_print_system_info(),
    gpu: hasGpu ? kind : 'none',
    cpuMathCores: cores,
    devices,
    sharesCells: true,
  };
  return {
    facts,
    samplersFor,
    host: () => hostOf(mapped, facts.systemInfo),
    openModel: (path, options, onProgress) => openModel(native, { path, options }, onProgress),
    openVocabulary: (path) => openVocabularyOf(native, path),
    refusedOptions: (options) => refusedOptions(native, options),
    measure: (path, options, contexts) => measure(native, { path, options }, contexts),
    isOutOfMemory,
  };
}

/** `auto`: the first GPU package that the machine can use; the processor's package otherwise. */
function chooseLibraries(setting: string | undefined): { kind: PackageKind; files: LibraryFiles } {
  for (const kind of candidateKinds(setting)) {
    const files = findLibraries(kind);
    if (files !== null && isUsable(kind)) return { kind, files };
  }
  throw new Error(
    `no llama.cpp library for ${process.platform} ${process.arch} is installed; install Hearth again with its optional packages`,
  );
}

function candidateKinds(setting: string | undefined): readonly PackageKind[] {
  const silicon = process.platform === 'darwin' && process.arch === 'arm64';
  // Apple silicon has no package without Metal.
  const cpu: PackageKind = silicon ? 'metal' : 'cpu';
  if (setting === undefined || setting === '' || setting === 'auto') return [...GPU_PACKAGES, cpu];
  const named = GPU_PACKAGES.find((kind) => kind === setting);
  return named === undefined ? [cpu] : [named];
}

function isUsable(kind: PackageKind): boolean {
  const needed = NEEDED_LIBRARIES[kind]?.[process.platform];
  if (needed === undefined) return true;
  try {
    koffi.load(needed);
    return true;
  } catch {
    return false;
  }
}
