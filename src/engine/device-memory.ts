/** Sums and comparisons of memory per device. Pure. A device that a list does not name holds nothing there. */
import type { DeviceMemory, Memory } from './ports.ts';

/** Null when everything fits; a device that needs nothing always does, even where more was promised than there is. */
export interface Shortage {
  readonly device: string;
  readonly needBytes: number;
  readonly freeBytes: number;
}

export function bytesOn(memory: Memory, device: string): number {
  return memory.reduce((sum, one) => (one.device === device ? sum + one.bytes : sum), 0);
}

/** All devices together; what lies within another device is not counted twice. */
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

/** The larger of the two, device by device. */
export function most(...memories: readonly Memory[]): Memory {
  return combined(memories, Math.max);
}

/** The smaller of the two on the devices that both name. */
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
