import type { LoadedFacts } from '../../../../contract/load.ts';
import { LEAST_CTX } from '../../../../contract/limits.ts';
import {
  type ContextSize,
  type DeviceBytes,
  HOST_DEVICE,
  MOST_MEASURED_SIZES,
} from '../../../../contract/memory.ts';
import { bytesOn, most, plus } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';
import type { LocalTarget } from '../model-source.ts';

/** Plans use these slot counts unless the user sets another; other counts are interpolated. */
const SEQUENCES = [1, 4, 8];
/** Denser where sliding windows stop growing. */
const CELLS = [512, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
/** Vectors are computed in steps of this size even if the window is smaller. */
const EMBEDDING_CELLS = [256, ...CELLS];

export function measuredSizes({ kind, trainedCtx, defaultCtx }: LocalTarget): ContextSize[] {
  const counts = kind === 'embedding' ? [1] : SEQUENCES;
  // Shared cells of several slots may exceed the trained context.
  const bound = kind === 'embedding' ? trainedCtx : Number.POSITIVE_INFINITY;
  const ends = [defaultCtx ?? trainedCtx, trainedCtx].filter(
    (cells) => Number.isSafeInteger(cells) && cells >= LEAST_CTX,
  );
  const usual = kind === 'embedding' ? EMBEDDING_CELLS : CELLS;
  const cells = [...new Set([...usual.filter((count) => count <= bound), ...ends])];
  return cells
    .flatMap((count) => counts.flatMap((sequences) => bothWays(count, sequences)))
    .slice(0, MOST_MEASURED_SIZES);
}

/** A sliding window takes more memory if each sequence has its own; a single sequence makes no difference. */
function bothWays(cells: number, sequences: number): ContextSize[] {
  const own = { cells, sequences, unified: false };
  return sequences === 1 ? [own] : [{ ...own, unified: true }, ...(cells % sequences === 0 ? [own] : [])];
}

export function sumDevices(devices: readonly DeviceBytes[]): Memory {
  return plus(
    devices.map(({ device, modelBytes, contextBytes, computeBytes }) => ({
      device,
      bytes: modelBytes + contextBytes + computeBytes,
    })),
  );
}

function observedMemory({ residentBytes, memory = [] }: LoadedFacts): Memory {
  const gpus = sumDevices(memory).filter(({ device }) => device !== HOST_DEVICE);
  return [{ device: HOST_DEVICE, bytes: residentBytes }, ...gpus];
}

/**
 * Buffers that no step has touched yet are not resident but will be, so the sum of allocations counts if it is
 * larger.
 */
export function countedMemory(
  facts: LoadedFacts,
  { processBytes, weightsBytes }: { readonly processBytes: number; readonly weightsBytes: number },
): Memory {
  const seen = observedMemory(facts);
  if (facts.memory === undefined) {
    const least = weightsBytes + facts.contextBytes;
    return most(seen, [{ device: HOST_DEVICE, bytes: least }]);
  }
  const host = bytesOn(sumDevices(facts.memory), HOST_DEVICE) + processBytes;
  return most(seen, [{ device: HOST_DEVICE, bytes: host }]);
}
