import type { EngineState, ModelView } from '../../../src/wire/operation/engine-state.ts';

export interface DeviceReading {
  /** The device's total: models, others (other programs and unplanned memory) and free. */
  readonly allBytes: number;
  readonly heldBytes: number;
  /** Planned for loading models that are not measured yet; not in use so far. */
  readonly loadingBytes: number;
  readonly othersBytes: number;
  readonly freeBytes: number;
  /** `worker` is the rest of the process's memory. */
  readonly parts: readonly {
    readonly name: 'weights' | 'kept tokens' | 'compute' | 'worker';
    readonly bytes: number;
  }[];
  readonly plannedBytes: number;
  /** False: all of it is planned, nothing measured. */
  readonly isMeasured: boolean;
}

export function deviceReading({ models, devices }: EngineState, device: string): DeviceReading {
  const all = Object.values(models).flatMap(({ state, memory }) =>
    (memory[device] === undefined ? [] : [memory[device]]).map((part) => ({ state, part })),
  );
  const isAhead = ({ state, part }: (typeof all)[number]): boolean =>
    state === 'loading' && part.measured_bytes === undefined;
  const here = all.filter((each) => !isAhead(each)).map(({ part }) => part);
  const loading = all.filter(isAhead).reduce((sum, { part }) => sum + part.planned_bytes, 0);
  const total = (of: (part: (typeof here)[number]) => number | undefined): number =>
    here.reduce((sum, part) => sum + (of(part) ?? 0), 0);
  const held = total(({ measured_bytes: measured, planned_bytes: planned }) => measured ?? planned);
  const weights = total(({ weights_bytes: bytes }) => bytes);
  const kv = total(({ kv_bytes: bytes }) => bytes);
  const compute = total(({ compute_bytes: bytes }) => bytes);
  const { total_bytes: whole, free_bytes: free } = devices[device] ?? {
    free_bytes: 0,
    total_bytes: undefined,
  };
  return {
    allBytes: Math.max(1, whole ?? 0, held + loading + free),
    heldBytes: held,
    loadingBytes: loading,
    othersBytes: Math.max(0, (whole ?? 0) - held - loading - free),
    freeBytes: free,
    parts: [
      { name: 'weights', bytes: weights },
      { name: 'kept tokens', bytes: kv },
      { name: 'compute', bytes: compute },
      { name: 'worker', bytes: Math.max(0, held - weights - kv - compute) },
    ],
    plannedBytes: total(({ planned_bytes: bytes }) => bytes),
    isMeasured: here.some(({ measured_bytes: bytes }) => bytes !== undefined),
  };
}

export interface HolderReading {
  readonly id: string;
  /** On all devices: measured, or planned if nothing is measured yet. */
  readonly bytes: number;
  /** Null: nothing is measured yet. */
  readonly plannedBytes: number | null;
  /** Unix milliseconds of its unload if no request comes; null: in use, or kept. */
  readonly untilMs: number | null;
  readonly isUsed: boolean;
  readonly isLoading: boolean;
  readonly isNext: boolean;
  readonly eviction: ModelView['eviction'];
}

export function holders({ models }: EngineState): HolderReading[] {
  return Object.entries(models)
    .map(([id, model]) => holder(id, model))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => (a.eviction?.rank ?? 0) - (b.eviction?.rank ?? 0));
}

function holder(
  id: string,
  { state, memory, expires_ms, running, queued, eviction }: ModelView,
): HolderReading {
  const parts = Object.values(memory);
  const sum = (of: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  const isUsed = running + queued > 0;
  const isMeasured = parts.some(({ measured_bytes: bytes }) => bytes !== undefined);
  return {
    id,
    bytes: sum(({ measured_bytes: measured, planned_bytes: planned }) => measured ?? planned),
    plannedBytes: isMeasured ? sum(({ planned_bytes: planned }) => planned) : null,
    untilMs: expires_ms ?? null,
    isUsed,
    isLoading: state === 'loading',
    isNext: eviction?.rank === 1 && state === 'ready' && !isUsed,
    eviction,
  };
}
