/**
 * api/fit owns what people are told before a load: the window and slots that a model would get on this machine, the memory
 * and the speed. It asks the same plan as the service, and knows nothing of what a running service has loaded.
 */
import type { LoadSize, Memory } from '../../engine/ports.ts';
import { HOST_DEVICE } from '../../contract/memory.ts';
import { freeMemoryBytes } from '../../engine/local/memory/free-memory.ts';
import { estimatedBytes } from '../../engine/local/memory-need.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../engine/scheduler/limits.ts';
import {
  bestPlan,
  LEAST_PLANNED_CTX,
  type LoadPlan,
  mostChosenCtx,
  wantedCtx,
} from '../../engine/scheduler/memory-plan.ts';

export interface LoadWish {
  /** Pinned slots, or null. */
  readonly slots: number | null;
  /** The window that somebody asks for, or null. */
  readonly numCtx?: number | null;
  /** Absent: what the machine has free now. */
  readonly free?: Memory;
  /** Absent: by the header of the file. */
  readonly need?: (size: LoadSize) => Memory;
}

/** What a load would get now, on an otherwise idle service; null: it does not fit. */
export function expectedLoad(target: LocalTarget, wish: LoadWish): LoadPlan | null {
  const byHeader = (size: LoadSize): Memory => [
    { device: HOST_DEVICE, bytes: estimatedBytes(target.source, size) },
  ];
  const { slots, numCtx = null, free, need = byHeader } = wish;
  const plan = { need, slots, wantedCtx: wantedCtx(target, numCtx), mostCtx: mostChosenCtx(target) };
  const available = free ?? [
    { device: HOST_DEVICE, bytes: freeMemoryBytes() - DEFAULT_SCHEDULER_LIMITS.reserveBytes },
  ];
  return bestPlan({ ...plan, below: null }, available);
}

/** The window that a load chooses where none is set; the least one where nothing fits now. */
export function chosenWindow(slots: number | null): (target: LocalTarget) => number {
  return (target) =>
    expectedLoad(target, { slots })?.numCtx ?? Math.min(target.trainedCtx, LEAST_PLANNED_CTX);
}
