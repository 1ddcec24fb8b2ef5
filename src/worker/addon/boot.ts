/** Initialises the prebuilt native library and reports what was bound. Never builds and never downloads. */
import { readFileSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { getLlama, type Llama, type LlamaGpuType, LlamaLogLevel } from 'node-llama-cpp';
import type { BackendFacts } from '../../contract/load.ts';
import { checkInternals } from './internals.ts';

export interface Boot {
  readonly llama: Llama;
  readonly facts: BackendFacts;
}

const GPU_TYPES: readonly string[] = ['metal', 'cuda', 'vulkan'];

export async function bootNative(gpuSetting: string | undefined): Promise<Boot> {
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
  return { llama, facts: backendFacts(llama) };
}

function parseGpu(setting: string | undefined): 'auto' | false | Exclude<LlamaGpuType, false> {
  if (setting === undefined || setting === '' || setting === 'auto') return 'auto';
  if (GPU_TYPES.includes(setting)) return setting as Exclude<LlamaGpuType, false>;
  return false;
}

export function backendFacts(llama: Llama): BackendFacts {
  const loaded = loadedFiles();
  const folder = boundFolder(loaded);
  return {
    folder,
    mapped: folder === '' ? [] : loaded.filter((path) => path.startsWith(folder + sep)).sort(),
    systemInfo: llama.systemInfo,
    gpu: llama.gpu === false ? 'none' : llama.gpu,
    cpuMathCores: llama.cpuMathCores,
  };
}

/** The folder of the addon that is really in this process, whichever one the library chose. */
function boundFolder(loaded: readonly string[]): string {
  const addon = loaded.find((path) => path.endsWith('llama-addon.node'));
  return addon === undefined ? '' : dirname(addon);
}

function loadedFiles(): string[] {
  return process.platform === 'linux' ? mappedFiles() : reportedFiles();
}

function mappedFiles(): string[] {
  const files = new Set<string>();
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const slash = line.indexOf('/');
    if (slash >= 0) files.add(line.slice(slash));
  }
  return [...files];
}

/** Where there is no /proc, Node's diagnostic report names the shared objects. */
function reportedFiles(): string[] {
  const report: unknown = process.report.getReport();
  const objects: unknown =
    typeof report === 'object' && report !== null ? Reflect.get(report, 'sharedObjects') : [];
  return Array.isArray(objects) ? objects.map(String) : [];
}
