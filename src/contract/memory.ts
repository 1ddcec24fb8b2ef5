/** Memory of a model on each device, as the native library calculates it before loading. */
import { type Static, Type } from 'typebox';
import { LEAST_CTX, MOST_SEQUENCES } from './limits.ts';

/** The memory of the machine, by the name that llama.cpp gives it. */
export const HOST_DEVICE = 'CPU';

/** Sizes that one question may name. */
export const MOST_MEASURED_SIZES = 64;

/** A device that the native library can compute on. */
export const Device = Type.Object({
  name: Type.String(),
  description: Type.String(),
  /** `igpu` computes in the memory of the machine; `accel` has none of its own. */
  kind: Type.Union([Type.Literal('cpu'), Type.Literal('gpu'), Type.Literal('igpu'), Type.Literal('accel')]),
  totalBytes: Type.Number({ minimum: 0 }),
  /** When the worker asked the library: at its boot in its facts, and when a load begins. */
  freeBytes: Type.Number({ minimum: 0 }),
});
export type Device = Static<typeof Device>;

/** llama.cpp reports a refused allocation only in its log, in words that differ by backend. */
const NO_MEMORY =
  /out of memory|OutOf(?:Device|Host)Memory|(?:failed|unable) to allocate|memory allocation of size|insufficient memory/i;

/** The first line that reports a refused allocation, or null. */
export function noMemoryLine(log: string): string | null {
  return log.split('\n').find((line) => NO_MEMORY.test(line)) ?? null;
}

/** Bytes on one device by what they are for: weights, KV cache and states, buffers of a step. */
export const DeviceBytes = Type.Object({
  device: Type.String(),
  modelBytes: Type.Number({ minimum: 0 }),
  contextBytes: Type.Number({ minimum: 0 }),
  computeBytes: Type.Number({ minimum: 0 }),
});
export type DeviceBytes = Static<typeof DeviceBytes>;

/** One way to open a context. */
export const ContextSize = Type.Object({
  /** KV cells in all, tokens. */
  cells: Type.Integer({ minimum: LEAST_CTX }),
  sequences: Type.Integer({ minimum: 1, maximum: MOST_SEQUENCES }),
  /** The sequences share the cells; else each has a window of its own, of equal size. */
  unified: Type.Boolean(),
});
export type ContextSize = Static<typeof ContextSize>;

export const Measurement = Type.Object({
  /** In the order in which the sizes were asked for. */
  sizes: Type.Array(Type.Array(DeviceBytes, { maxItems: 64 }), { maxItems: MOST_MEASURED_SIZES }),
  /** Memory of the worker process in addition: its own, and the vocabulary. */
  processBytes: Type.Number({ minimum: 0 }),
});
export type Measurement = Static<typeof Measurement>;
