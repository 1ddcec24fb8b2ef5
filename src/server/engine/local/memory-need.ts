import type { ContextSize } from '../../../contract/memory.ts';
import type { ModelTarget } from '../ports.ts';
import type { MemoryRecord } from './memory/memory-record.ts';
import type { LocalSource } from './model-source.ts';

export interface Measured {
  /** Count that running steps confirmed on a quiet machine; null before that. */
  readonly threads: number | null;
  readonly memory: MemoryRecord | null;
}

export interface Tuning {
  recall(target: ModelTarget): Measured | null;
  remember(target: ModelTarget, measured: Measured): void;
}

const MIB = 1024 * 1024;
export const PROCESS_BYTES = 160 * MIB;
/** Compute buffers grow with the width of the model, as do its weights. */
const COMPUTE_SHARE = 0.05;

export function estimatedBytes(
  source: Pick<LocalSource, 'weightsBytes' | 'kvBytesPerToken'>,
  { cells }: Pick<ContextSize, 'cells'>,
): number {
  const context = source.kvBytesPerToken * cells;
  return Math.ceil(source.weightsBytes * (1 + COMPUTE_SHARE) + context + PROCESS_BYTES);
}

export function processTuning(): Tuning {
  const known = new Map<string, Measured>();
  return {
    recall: ({ revision }) => known.get(revision) ?? null,
    remember: ({ revision }, measured) => void known.set(revision, measured),
  };
}
