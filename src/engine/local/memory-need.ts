/** How much memory a model file takes: by what an earlier load of it measured, else by its header. Pure arithmetic. */
import type { LoadedFacts } from '../../contract/load.ts';
import type { LoadSize, ModelTarget } from '../ports.ts';
import type { LocalSource } from './model-source.ts';

/** What a load measured, and the next one is planned by. */
export interface Measured {
  /** The count that a calibration chose; null while none has run on a quiet machine. */
  readonly threads: number | null;
  /** Everything but the context. */
  readonly fixedBytes: number;
  readonly contextBytes: number;
  /** Window and sequences that `contextBytes` was measured with. */
  readonly numCtx: number;
  readonly sequences: number;
}

/** Keeps what loads measured, by model, native library and CPU. */
export interface Tuning {
  recall(target: ModelTarget): Measured | null;
  remember(target: ModelTarget, measured: Measured): void;
}

const MIB = 1024 * 1024;
/** A process with the native library initialised, and the least compute buffer. */
const PROCESS_BYTES = 160 * MIB;
/** Compute buffers grow with the width of the model, as do its weights. */
const COMPUTE_SHARE = 0.05;

/** `before` keeps its thread count when this load measured none, because it was pinned, recalled, or disturbed. */
export function measuredOf(
  facts: Omit<LoadedFacts, 'trainedCtx' | 'gpuLayers' | 'prefixReuse'>,
  source: Pick<LocalSource, 'weightsBytes'>,
  before: Measured | null,
): Measured {
  return {
    threads: facts.calibration.length > 0 ? facts.threads : (before?.threads ?? null),
    fixedBytes: Math.max(source.weightsBytes, facts.residentBytes - facts.contextBytes),
    contextBytes: facts.contextBytes,
    numCtx: facts.numCtx,
    sequences: facts.sequences,
  };
}

export function bytesNeeded(
  source: Pick<LocalSource, 'weightsBytes' | 'kvBytesPerToken'>,
  measured: Measured | null,
  size: LoadSize,
): number {
  const cells = size.numCtx * size.slots;
  if (measured !== null) {
    const share = cells / Math.max(1, measured.numCtx * measured.sequences);
    return Math.ceil(measured.fixedBytes + measured.contextBytes * share);
  }
  const context = source.kvBytesPerToken * cells;
  return Math.ceil(source.weightsBytes * (1 + COMPUTE_SHARE) + context + PROCESS_BYTES);
}

/** For as long as the process lasts. */
export function processTuning(): Tuning {
  const known = new Map<string, Measured>();
  return {
    recall: ({ revision }) => known.get(revision) ?? null,
    remember: ({ revision }, measured) => void known.set(revision, measured),
  };
}
