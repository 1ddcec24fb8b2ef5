import { type Static, Type } from 'typebox';
import { LEAST_CTX, MOST_SEQUENCES } from './limits.ts';

export const HOST_DEVICE = 'CPU';

export const MOST_MEASURED_SIZES = 64;

export const Device = Type.Object({
  name: Type.String(),
  description: Type.String(),
  /** `igpu` uses host memory; `accel` has no memory. */
  kind: Type.Union([Type.Literal('cpu'), Type.Literal('gpu'), Type.Literal('igpu'), Type.Literal('accel')]),
  totalBytes: Type.Number({ minimum: 0 }),
  /** Measured at the worker's boot and again when a load begins. */
  freeBytes: Type.Number({ minimum: 0 }),
});
export type Device = Static<typeof Device>;

/** llama.cpp reports a refused allocation only in its log, in words that differ by backend. */
const NO_MEMORY =
  /out of memory|OutOf(?:Device|Host)Memory|(?:failed|unable) to allocate|memory allocation of size|insufficient memory/i;

export function noMemoryLine(log: string): string | null {
  return log.split('\n').find((line) => NO_MEMORY.test(line)) ?? null;
}

/** Bytes on one device: weights, KV cache and states, step buffers. */
export const DeviceBytes = Type.Object({
  device: Type.String(),
  modelBytes: Type.Number({ minimum: 0 }),
  contextBytes: Type.Number({ minimum: 0 }),
  computeBytes: Type.Number({ minimum: 0 }),
});
export type DeviceBytes = Static<typeof DeviceBytes>;

export const ContextSize = Type.Object({
  cells: Type.Integer({ minimum: LEAST_CTX }),
  sequences: Type.Integer({ minimum: 1, maximum: MOST_SEQUENCES }),
  /** True: sequences share the cells; false: each has its own window of equal size. */
  unified: Type.Boolean(),
});
export type ContextSize = Static<typeof ContextSize>;

export const Measurement = Type.Object({
  /** In the order of the requested sizes. */
  sizes: Type.Array(Type.Array(DeviceBytes, { maxItems: 64 }), { maxItems: MOST_MEASURED_SIZES }),
  /** Additional memory of the worker process, vocabulary included. */
  processBytes: Type.Number({ minimum: 0 }),
});
export type Measurement = Static<typeof Measurement>;
