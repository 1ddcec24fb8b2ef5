/** Sums and comparisons of memory per device. A device absent from a list has 0 bytes there. */
import type { DeviceMemory, Memory } from './ports.ts';

/** Null when everything fits. A device without a need always fits, even if more is promised than it has. */
export interface Shortage {
  readonly device: string;
  readonly needBytes: number;
  readonly freeBytes: number;
}

export function bytesOn(memory: Memory, device: string): number {
  return memory.reduce((sum, one) => (one.device === device ? sum + one.bytes : sum), 0);
}

/** Over all devices; memory within another device counts once. */
export function totalBytes(memory: Memory): number {
  return memory.reduce((sum, { bytes, within }) => (within === undefined ? sum + bytes : sum), 0);
}

export function plus(...memories: readonly Memory[]): Memory {
  return combined(memories, (sum, bytes) => sum + bytes);
}

export function minus(memory: Memory, taken: Memory): Memory {
  return plus(
    memory,
    taken.map((one) => ({ ...one, bytes: -one.bytes })),
  );
}

export function most(...memories: readonly Memory[]): Memory {
  return combined(memories, Math.max);
}

export function least(a: Memory, b: Memory): Memory {
  return a.flatMap((one) =>
    b.some(({ device }) => device === one.device)
      ? [{ ...one, bytes: Math.min(one.bytes, bytesOn(b, one.device)) }]
      : [],
  );
}

export function scaled(memory: Memory, change: (bytes: number) => number): Memory {
  return memory.map((one) => ({ ...one, bytes: change(one.bytes) }));
}

export function shortage(need: Memory, free: Memory): Shortage | null {
  for (const { device, bytes } of need) {
    const freeBytes = bytesOn(free, device);
    if (bytes > 0 && bytes > freeBytes) return { device, needBytes: bytes, freeBytes };
  }
  return null;
}

export function fits(need: Memory, free: Memory): boolean {
  return shortage(need, free) === null;
}

function combined(memories: readonly Memory[], join: (a: number, b: number) => number): Memory {
  const known = new Map<string, DeviceMemory>();
  for (const one of memories.flat()) {
    const before = known.get(one.device);
    known.set(one.device, before === undefined ? one : { ...before, bytes: join(before.bytes, one.bytes) });
  }
  return [...known.values()];
}
