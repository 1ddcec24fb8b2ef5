/** What to say at the start of a service that computes without the GPU that the machine has. */
import type { BackendFacts, GpuSupport } from '../../contract/load.ts';

/** Null when there is nothing to say: the operator chose, a GPU is used, or none could be. */
export function gpuHint(setting: string, { gpu, gpuSupport = [] }: BackendFacts): string | null {
  const kind = setting === 'auto' && gpu === 'none' ? missingPackage(gpuSupport) : null;
  if (kind === null) return null;
  return `This machine has a GPU that ${SHOWN[kind]} could use, but the library for it is not installed; run: hearth gpu install ${kind}, then restart the service.`;
}

const SHOWN = { cuda: 'CUDA', vulkan: 'Vulkan' } as const;

/** The kind whose package is all that is missing, where no other kind is installed. */
export function missingPackage(support: readonly GpuSupport[]): GpuSupport['kind'] | null {
  if (support.some(({ installed, missing }) => installed && missing.length === 0)) return null;
  return support.find(({ missing }) => missing.length === 0)?.kind ?? null;
}
