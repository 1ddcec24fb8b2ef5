/**
 * server/api/fit owns the estimates before a load: the window and slots that a model would get on this machine, the memory
 * and the speed. It uses the same plan as the service, and knows nothing of what a running service has loaded. This
 * file: the memory of an installed model at each window, from the native library.
 */
import { scaled, totalBytes } from '../../engine/device-memory.ts';
import type { LocalBackend } from '../../engine/local/local-backend.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import type { LoadSize, Memory } from '../../engine/ports.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../engine/scheduler/limits.ts';
import {
  bestPlan,
  type LoadPlan,
  mostChosenCtx,
  type Wish,
  wantedCtx,
} from '../../engine/scheduler/memory-plan.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';

const WINDOWS = [4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144];

export interface FittingWindow {
  readonly numCtx: number;
  readonly slots: number;
  /** Total of all devices; if the window does not fit, with one slot. */
  readonly bytes: number;
  readonly fits: boolean;
}

export interface ModelFit {
  readonly trainedCtx: number;
  readonly weightsBytes: number;
  readonly free: Memory;
  readonly windows: readonly FittingWindow[];
  readonly load: LoadSize | null;
  readonly onGpu: boolean;
  readonly isMixture: boolean;
}

export interface FitOptions {
  readonly settings: WorkerSettings;
  readonly slots: number | null;
}

/** Starts a worker of its own and loads no model. Memory held by a running service is not free. */
export async function fitModel(target: LocalTarget, { settings, slots }: FitOptions): Promise<ModelFit> {
  const backend = startOwnWorker(settings);
  try {
    const { gpu } = await backend.boot();
    const { wish, free, plan } = await planLoad(backend, target, slots);
    const { source, trainedCtx } = target;
    const windows = new Set([...WINDOWS.filter((numCtx) => numCtx < trainedCtx), trainedCtx]);
    if (plan !== null) windows.add(plan.numCtx);
    return {
      trainedCtx,
      weightsBytes: source.weightsBytes,
      free,
      windows: [...windows]
        .toSorted((a, b) => a - b)
        .map((numCtx) => windowAt({ ...wish, wantedCtx: numCtx, mostCtx: null }, free)),
      load: planSize(plan),
      onGpu: gpu !== 'none',
      isMixture: source.experts !== null,
    };
  } finally {
    await backend.close();
  }
}

export async function plannedLoad(
  backend: LocalBackend,
  target: LocalTarget,
  slots: number | null,
): Promise<LoadSize | null> {
  return planSize((await planLoad(backend, target, slots)).plan);
}

interface Planned {
  readonly wish: Wish;
  readonly free: Memory;
  readonly plan: LoadPlan | null;
}

async function planLoad(backend: LocalBackend, target: LocalTarget, slots: number | null): Promise<Planned> {
  await backend.measure?.(target);
  const { reserveBytes } = DEFAULT_SCHEDULER_LIMITS;
  const free = scaled(backend.freeMemory(), (bytes) => Math.max(0, bytes - reserveBytes));
  const need = (size: LoadSize): Memory => backend.memoryNeed(target, size) ?? [];
  const wish = {
    need,
    wantedCtx: wantedCtx(target, null),
    mostCtx: mostChosenCtx(target),
    slots,
    below: null,
  };
  return { wish, free, plan: bestPlan(wish, free) };
}

const planSize = (plan: LoadPlan | null): LoadSize | null =>
  plan === null ? null : { numCtx: plan.numCtx, slots: plan.slots, cells: plan.cells };

function windowAt(wish: Wish, free: Memory): FittingWindow {
  const { wantedCtx: numCtx, slots: pinned, need } = wish;
  const plan = bestPlan(wish, free);
  if (plan?.numCtx === numCtx)
    return { numCtx, slots: plan.slots, bytes: totalBytes(plan.memory), fits: true };
  const slots = pinned ?? 1;
  return { numCtx, slots, bytes: totalBytes(need({ numCtx, slots, cells: numCtx })), fits: false };
}
