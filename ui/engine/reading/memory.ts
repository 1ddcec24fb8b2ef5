/** Who holds the memory, what was planned, and who would make room first. Pure. */
import type { EngineState, ModelView } from '../../../src/wire/operation/engine-state.ts';

export interface MemoryPart {
  readonly name: 'weights' | 'KV cache' | 'compute' | 'process' | 'others' | 'free';
  readonly bytes: number;
}

export interface DeviceReading {
  /** Together all that the device has. `process`: what a worker takes besides; `others`: other programs, and what no plan touches. */
  readonly parts: readonly MemoryPart[];
  readonly allBytes: number;
  readonly freeBytes: number;
  /** What the loads were planned with, and what they hold since; null: nothing here was measured. */
  readonly plannedBytes: number;
  readonly measuredBytes: number | null;
}

export function deviceReading({ models, devices }: EngineState, device: string): DeviceReading {
  const here = Object.values(models).flatMap(({ memory }) => memory[device] ?? []);
  const total = (of: (part: (typeof here)[number]) => number | undefined): number =>
    here.reduce((sum, part) => sum + (of(part) ?? 0), 0);
  const held = total(({ measured_bytes: measured, planned_bytes: planned }) => measured ?? planned);
  const weights = total(({ weights_bytes: bytes }) => bytes);
  const kv = total(({ kv_bytes: bytes }) => bytes);
  const compute = total(({ compute_bytes: bytes }) => bytes);
  const { total_bytes: all, free_bytes: free } = devices[device] ?? { free_bytes: 0, total_bytes: undefined };
  return {
    parts: [
      { name: 'weights', bytes: weights },
      { name: 'KV cache', bytes: kv },
      { name: 'compute', bytes: compute },
      { name: 'process', bytes: Math.max(0, held - weights - kv - compute) },
      { name: 'others', bytes: Math.max(0, (all ?? held + free) - held - free) },
      { name: 'free', bytes: free },
    ],
    allBytes: Math.max(1, all ?? held + free, held + free),
    freeBytes: free,
    plannedBytes: total(({ planned_bytes: bytes }) => bytes),
    measuredBytes: here.some(({ measured_bytes: bytes }) => bytes !== undefined) ? held : null,
  };
}

export interface HolderReading {
  readonly id: string;
  /** On all devices: measured, or planned where nothing is measured yet. */
  readonly bytes: number;
  /** Null: nothing is measured yet. */
  readonly plannedBytes: number | null;
  /** Unix milliseconds when it leaves if nothing comes; null: it is used, or stays. */
  readonly untilMs: number | null;
  readonly isUsed: boolean;
  /** Absent: it is going anyway. */
  readonly eviction: ModelView['eviction'];
}

/** Models that hold memory here, the one that would make room first at the top. */
export function holders({ models }: EngineState): HolderReading[] {
  return Object.entries(models)
    .map(([id, model]) => holder(id, model))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => (a.eviction?.rank ?? 0) - (b.eviction?.rank ?? 0));
}

function holder(id: string, { memory, expires_ms, running, queued, eviction }: ModelView): HolderReading {
  const parts = Object.values(memory);
  const sum = (of: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  const isMeasured = parts.some(({ measured_bytes: bytes }) => bytes !== undefined);
  return {
    id,
    bytes: sum(({ measured_bytes: measured, planned_bytes: planned }) => measured ?? planned),
    plannedBytes: isMeasured ? sum(({ planned_bytes: planned }) => planned) : null,
    untilMs: expires_ms ?? null,
    isUsed: running + queued > 0,
    eviction,
  };
}
