/**
 * api/fit owns what people are told before a load: the window and slots that a model would get on this machine, the memory
 * and the speed. It asks the same plan as the service, and knows nothing of what a running service has loaded.
 * This file: what an installed model takes at each window, asked of the native library.
 */
import { fits, scaled, totalBytes } from '../../engine/device-memory.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import type { LoadSize, Memory } from '../../engine/ports.ts';
import { DEFAULT_SCHEDULER_LIMITS } from '../../engine/scheduler/limits.ts';
import { bestPlan, mostChosenCtx, wantedCtx } from '../../engine/scheduler/memory-plan.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';

const WINDOWS = [4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144];
const USUAL_SLOTS = 4;

export interface FittingWindow {
  readonly numCtx: number;
  /** On all devices. */
  readonly bytes: number;
  readonly fits: boolean;
}

export interface ModelFit {
  readonly trainedCtx: number;
  readonly weightsBytes: number;
  readonly free: Memory;
  readonly windows: readonly FittingWindow[];
  /** What a load without num_ctx would get now; null: nothing fits. */
  readonly load: LoadSize | null;
  /** Whether a GPU takes part, whose speed is not that of the machine's memory. */
  readonly onGpu: boolean;
  /** A token reads only some of the weights. */
  readonly isMixture: boolean;
}

export interface FitOptions {
  readonly settings: WorkerSettings;
  readonly slots: number | null;
}

/** Starts a worker of its own and loads nothing; memory that a running service holds is not free. */
export async function fitModel(target: LocalTarget, { settings, slots }: FitOptions): Promise<ModelFit> {
  const backend = startOwnWorker(settings);
  try {
    const { gpu } = await backend.boot();
    await backend.measure?.(target);
    const { reserveBytes } = DEFAULT_SCHEDULER_LIMITS;
    const free = scaled(backend.freeMemory(), (bytes) => Math.max(0, bytes - reserveBytes));
    const need = (size: LoadSize): Memory => backend.memoryNeed(target, size) ?? [];
    const { source, trainedCtx } = target;
    const windows = [...new Set([...WINDOWS.filter((numCtx) => numCtx < trainedCtx), trainedCtx])];
    const sizes = { wantedCtx: wantedCtx(target, null), mostCtx: mostChosenCtx(target) };
    const plan = bestPlan({ ...sizes, need, slots, below: null }, free);
    return {
      trainedCtx,
      weightsBytes: source.weightsBytes,
      free,
      windows: windows.map((numCtx) => {
        const memory = need({ numCtx, slots: slots ?? USUAL_SLOTS, cells: numCtx });
        return { numCtx, bytes: totalBytes(memory), fits: fits(memory, free) };
      }),
      load: plan === null ? null : { numCtx: plan.numCtx, slots: plan.slots, cells: plan.cells },
      onGpu: gpu !== 'none',
      isMixture: source.experts !== null,
    };
  } finally {
    await backend.close();
  }
}
