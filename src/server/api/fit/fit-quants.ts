import { freeMemoryBytes } from '../../engine/local/memory/free-memory.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../engine/scheduler/limits.ts';
import { estimatedBytes } from '../../engine/local/memory-need.ts';

export interface QuantFit {
  readonly label: string;
  readonly sizeBytes: number;
  /** Weights and process; the KV cache is extra, and only the file contains its size. */
  readonly leastBytes: number;
  readonly usualBytes: number;
  readonly fits: boolean;
}

/** For the KV cache: most models need this for 8,192 tokens or more. */
const CACHE_SHARE = 0.25;
/** In order of preference: below four bits answers suffer, above eight the difference is not visible. */
const ADVISED = ['Q4_K_M', 'Q5_K_M', 'Q6_K', 'Q8_0', 'Q4_K_S', 'IQ4_XS', 'Q4_0', 'MXFP4', 'Q3_K_M'];

export function fitQuants(
  quants: readonly { readonly label: string; readonly sizeBytes: number }[],
  freeBytes: number,
): { readonly quants: readonly QuantFit[]; readonly advised: string | null } {
  const fitting = quants.map(({ label, sizeBytes }) => {
    const leastBytes = estimatedBytes({ weightsBytes: sizeBytes, kvBytesPerToken: 0 }, { cells: 0 });
    const usualBytes = Math.round(leastBytes + sizeBytes * CACHE_SHARE);
    return { label, sizeBytes, leastBytes, usualBytes, fits: usualBytes <= freeBytes };
  });
  const possible = fitting.filter(({ fits }) => fits).map(({ label }) => label);
  const advised = ADVISED.find((label) => possible.includes(label)) ?? possible.at(-1) ?? null;
  return { quants: fitting, advised };
}

export function freeForModels(): number {
  return Math.max(0, freeMemoryBytes() - DEFAULT_SCHEDULER_LIMITS.reserveBytes);
}
