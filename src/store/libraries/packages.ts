/**
 * store/libraries owns llama.cpp's libraries in the home folder: packages for GPUs and the user's own builds. It
 * knows nothing of models, and loads nothing. This file is the table of packages; one whose bytes have another hash
 * is never unpacked.
 */
import { CUDA_VERSIONS, PACKAGE_VERSION } from '../../lib/files/native-library.ts';
import { type PinnedFile, PYPI_FILES } from './pinned-file.ts';

export interface LibraryPackage {
  readonly name: string;
  /** SHA-512 of the archive in base64, as in lockfiles. */
  readonly integrity: string;
  readonly downloadBytes: number;
  readonly unpackedBytes: number;
}

export interface RuntimeWheel extends PinnedFile {
  readonly libraries: readonly string[];
  readonly unpackedBytes: number;
}

/** CUDA's runtime and cuBLAS, under NVIDIA's licence, for machines that have neither. */
export interface GpuRuntime {
  readonly version: number;
  /** Next to the library that needs it, which looks there first. */
  readonly folder: string;
  /** The last one contains the file that marks all of them as present. */
  readonly wheels: readonly RuntimeWheel[];
}

/** The first package is complete; its extension adds files to the same folder. */
export interface GpuLibrary {
  readonly main: LibraryPackage;
  readonly extension?: LibraryPackage;
  readonly runtimes?: readonly GpuRuntime[];
}

export const GPU_KINDS = ['cuda', 'vulkan'] as const;
export type GpuLibraryKind = (typeof GPU_KINDS)[number];

export const SCOPE = '@node-llama-cpp';

export const GPU_LIBRARIES: Readonly<Record<string, GpuLibrary>> = {
  'linux-x64-cuda': {
    main: {
      name: 'linux-x64-cuda',
      integrity:
        'sha512-8rQCjyNNLZJUFit+YpjwlC4hwkKgOMIkB2wuycKBf8NU2O3ySKbiWZQ8aw9ku2nUTXjSnUIrE6KB88itduTBuA==',
      downloadBytes: 142_898_030,
      unpackedBytes: 189_352_027,
    },
    // CUDA 12, which also supports GPUs of compute capability below 7.5.
    extension: {
      name: 'linux-x64-cuda-ext',
      integrity:
        'sha512-4e5ajkiM2aR2WAdB/N/ACk4weEhHvOAIrzxZPsIX0xDFW5+6hhShuy1/vs88SK9NGdgAco9IyE28eYS0H1efpA==',
      downloadBytes: 176_664_119,
      unpackedBytes: 374_453_766,
    },
    runtimes: [
      {
        version: 13,
        folder: CUDA_VERSIONS[13],
        wheels: [
          {
            label: 'cuBLAS 13.2.1',
            url: `${PYPI_FILES}/packages/e2/e7/39e43c0688f9788c88da0b91ea18125448c5f515104aadf65a70243f144f/nvidia_cublas-13.2.1.1-py3-none-manylinux_2_27_x86_64.whl`,
            integrity: 'sha256-jBPJPPi+RIC0kJkFyW0tMVdbSvQ/zTrw6Er5R2JmXk8=',
            downloadBytes: 401_085_577,
            libraries: ['nvidia/cu13/lib/libcublasLt.so.13', 'nvidia/cu13/lib/libcublas.so.13'],
            unpackedBytes: 556_795_312,
          },
          {
            label: "CUDA's runtime 13.1",
            url: `${PYPI_FILES}/packages/fe/60/03858bc3954b3263eedcff7626712c656b6b5a0d7d25bcb1fc1ebee9d4f1/nvidia_cuda_runtime-13.1.80-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl`,
            integrity: 'sha256-2sJbUuaQUOWnqElX5t9HCoWxhfj2SKmaGrHfzgJ1ds8=',
            downloadBytes: 2_297_816,
            libraries: ['nvidia/cu13/lib/libcudart.so.13'],
            unpackedBytes: 757_536,
          },
        ],
      },
      {
        version: 12,
        folder: CUDA_VERSIONS[12],
        wheels: [
          {
            label: 'cuBLAS 12.4.5',
            url: `${PYPI_FILES}/packages/ae/71/1c91302526c45ab494c23f61c7a84aa568b8c1f9d196efa5993957faf906/nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl`,
            integrity: 'sha256-L8jaYN9GP976geMj7vLjZInhyUM1tTWLyzg2Ct91rJs=',
            downloadBytes: 363_438_805,
            libraries: ['nvidia/cublas/lib/libcublasLt.so.12', 'nvidia/cublas/lib/libcublas.so.12'],
            unpackedBytes: 551_543_664,
          },
          {
            label: "CUDA's runtime 12.4",
            url: `${PYPI_FILES}/packages/ea/27/1795d86fe88ef397885f2e580ac37628ed058a92ed2c39dc8eac3adf0619/nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl`,
            integrity: 'sha256-ZEAyiPohNu6ORnzcnJQn4ENBEImdB8d58ltcBok0+qU=',
            downloadBytes: 883_737,
            libraries: ['nvidia/cuda_runtime/lib/libcudart.so.12'],
            unpackedBytes: 707_904,
          },
        ],
      },
    ],
  },
  'linux-x64-vulkan': {
    main: {
      name: 'linux-x64-vulkan',
      integrity:
        'sha512-bBxqU+JOcBu1nb5Qj2zcMci+JByT1E8EajHvYodyNfVIPkEhXh+/HMwR1/BT7xP08YK0hks+kM8fglER0P8JEg==',
      downloadBytes: 24_311_427,
      unpackedBytes: 73_750_139,
    },
  },
};

export const fullName = (name: string): string => `${SCOPE}/${name}@${PACKAGE_VERSION}`;
