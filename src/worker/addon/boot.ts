/** Initialises the prebuilt native library and says what was bound. Never builds and never downloads. */
import { getLlama, type Llama, type LlamaGpuType, LlamaLogLevel } from 'node-llama-cpp';
import type { BackendFacts } from '../../contract/load.ts';
import { boundFiles, hostOf } from './process-facts.ts';
import { checkInternals } from './internals.ts';
import { isOutOfMemory, openModel, refusedOptions } from './model.ts';
import type { NativeBackend } from './native.ts';
import { samplersFor } from './sampler.ts';

const GPU_TYPES: readonly string[] = ['metal', 'cuda', 'vulkan'];

export async function bootNative(gpuSetting: string | undefined): Promise<NativeBackend> {
  const llama = await getLlama({
    gpu: parseGpu(gpuSetting),
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    // 0: no budget shared between contexts. Every context here states its own thread count.
    maxThreads: 0,
    logLevel: LlamaLogLevel.warn,
    logger: (level, message) => process.stderr.write(`llama ${level}: ${message.trim()}\n`),
  });
  checkInternals(llama);
  const bound = boundFiles();
  return {
    facts: backendFacts(llama, bound),
    samplersFor,
    host: () => hostOf(bound.files, llama.systemInfo),
    openModel: (path, options, onProgress) => openModel(llama, { path, options }, onProgress),
    refusedOptions,
    measure: async () => {
      throw new Error('this native library does not tell what a model would take');
    },
    isOutOfMemory,
  };
}

function parseGpu(setting: string | undefined): 'auto' | false | Exclude<LlamaGpuType, false> {
  if (setting === undefined || setting === '' || setting === 'auto') return 'auto';
  if (GPU_TYPES.includes(setting)) return setting as Exclude<LlamaGpuType, false>;
  return false;
}

function backendFacts(llama: Llama, { folder, files }: ReturnType<typeof boundFiles>): BackendFacts {
  return {
    folder,
    mapped: files.map(({ path }) => path),
    systemInfo: llama.systemInfo,
    gpu: llama.gpu === false ? 'none' : llama.gpu,
    cpuMathCores: llama.cpuMathCores,
  };
}
