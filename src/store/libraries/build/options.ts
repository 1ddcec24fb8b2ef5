export const BUILD_GPUS = ['none', 'cuda', 'vulkan', 'rocm', 'metal'] as const;
export type BuildGpu = (typeof BUILD_GPUS)[number];

/** Without OpenMP, whose idle threads spin, and without parts that only programs need. */
const COMMON = {
  CMAKE_BUILD_TYPE: 'Release',
  BUILD_SHARED_LIBS: 'ON',
  CMAKE_BUILD_WITH_INSTALL_RPATH: 'ON',
  GGML_OPENMP: 'OFF',
  GGML_NATIVE: 'ON',
  GGML_CCACHE: 'OFF',
  LLAMA_BUILD_TESTS: 'OFF',
  LLAMA_BUILD_EXAMPLES: 'OFF',
  LLAMA_BUILD_SERVER: 'OFF',
  LLAMA_BUILD_APP: 'OFF',
  LLAMA_BUILD_UI: 'OFF',
  LLAMA_USE_PREBUILT_UI: 'OFF',
  LLAMA_OPENSSL: 'OFF',
} as const;

const OF_GPU: Readonly<Record<BuildGpu, Readonly<Record<string, string>>>> = {
  none: { GGML_METAL: 'OFF' },
  cuda: {
    GGML_CUDA: 'ON',
    GGML_CUDA_NCCL: 'OFF',
    GGML_CUDA_COMPRESSION_MODE: 'none',
    CMAKE_CUDA_ARCHITECTURES: 'native',
  },
  vulkan: { GGML_VULKAN: 'ON' },
  rocm: { GGML_HIP: 'ON' },
  metal: { GGML_METAL: 'ON', GGML_METAL_EMBED_LIBRARY: 'ON' },
};

/**
 * Requirements in addition to a C++ compiler: any one of these programs, by name or path, and the package that has
 * it.
 */
export const TOOLKITS: Readonly<
  Partial<Record<BuildGpu, { readonly programs: readonly string[]; readonly from: string }>>
> = {
  cuda: {
    programs: ['nvcc', '/usr/local/cuda/bin/nvcc'],
    from: "NVIDIA's CUDA toolkit (Debian: nvidia-cuda-toolkit)",
  },
  vulkan: { programs: ['glslc'], from: 'the Vulkan SDK (Debian: libvulkan-dev, glslc and spirv-headers)' },
  rocm: { programs: ['hipcc', '/opt/rocm/bin/hipcc'], from: "AMD's ROCm with its HIP compiler" },
  metal: { programs: ['xcrun'], from: "Apple's command line tools (xcode-select --install)" },
};

export interface BuildChoice {
  readonly gpu: BuildGpu;
  readonly media: boolean;
}

export function cmakeOptions({ gpu, media }: BuildChoice, platform: NodeJS.Platform): string[] {
  const options: Readonly<Record<string, string>> = {
    ...COMMON,
    CMAKE_INSTALL_RPATH: platform === 'darwin' ? '@loader_path' : '$ORIGIN',
    LLAMA_BUILD_TOOLS: media ? 'ON' : 'OFF',
    ...(media ? { MTMD_VIDEO: 'OFF' } : {}),
    ...OF_GPU[gpu],
  };
  return Object.entries(options).map(([name, value]) => `-D${name}=${value}`);
}

export const buildTargets = ({ media }: BuildChoice): string[] => (media ? ['llama', 'mtmd'] : ['llama']);

/** Chosen: GCC takes about this much for the largest files. */
const JOB_BYTES = 600 * 1024 * 1024;

export function defaultJobs(processors: number, freeBytes: number): number {
  return Math.max(1, Math.min(processors, Math.floor(freeBytes / JOB_BYTES)));
}

export function buildName(release: string, { gpu, media }: BuildChoice): string {
  const base =
    release
      .replaceAll(/[^\w.+-]/g, '-')
      .replace(/^[^\w]+/, '')
      .slice(0, 40) || 'build';
  return `${base}-${gpu === 'none' ? 'cpu' : gpu}${media ? '-media' : ''}`;
}
