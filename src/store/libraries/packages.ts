/**
 * store/libraries owns llama.cpp's libraries in the home folder: packages for GPUs and a build of the user's own, how
 * they get there, and out again. It knows nothing of models, and loads nothing.
 * This file is the one table of what may be installed. A package whose bytes have another hash is never unpacked.
 */
import { PACKAGE_VERSION } from '../../lib/files/native-library.ts';

export interface LibraryPackage {
  /** Without its scope. */
  readonly name: string;
  /** As lockfiles have it: SHA-512 of the archive, in base64. */
  readonly integrity: string;
  readonly downloadBytes: number;
  readonly unpackedBytes: number;
}

/** The first package holds everything; its extension adds files to the same folder. */
export interface GpuLibrary {
  readonly main: LibraryPackage;
  readonly extension?: LibraryPackage;
}

export const GPU_KINDS = ['cuda', 'vulkan'] as const;
export type GpuLibraryKind = (typeof GPU_KINDS)[number];

export const SCOPE = '@node-llama-cpp';

/** By platform, architecture and kind. */
export const GPU_LIBRARIES: Readonly<Record<string, GpuLibrary>> = {
  'linux-x64-cuda': {
    main: {
      name: 'linux-x64-cuda',
      integrity:
        'sha512-8rQCjyNNLZJUFit+YpjwlC4hwkKgOMIkB2wuycKBf8NU2O3ySKbiWZQ8aw9ku2nUTXjSnUIrE6KB88itduTBuA==',
      downloadBytes: 142_898_030,
      unpackedBytes: 189_352_027,
    },
    // The same CUDA library for CUDA 12, which also knows GPUs before compute capability 7.5.
    extension: {
      name: 'linux-x64-cuda-ext',
      integrity:
        'sha512-4e5ajkiM2aR2WAdB/N/ACk4weEhHvOAIrzxZPsIX0xDFW5+6hhShuy1/vs88SK9NGdgAco9IyE28eYS0H1efpA==',
      downloadBytes: 176_664_119,
      unpackedBytes: 374_453_766,
    },
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

/** What npm calls it. */
export const fullName = (name: string): string => `${SCOPE}/${name}@${PACKAGE_VERSION}`;
