/**
 * worker/load owns the way from a load spec to a running model: it opens the file, chooses threads, and reports the
 * result. It knows no jobs, and nothing of the library but its interface (native.ts).
 */
import type { LoadedFacts, LoadSpec } from '../../contract/load.ts';
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import { fail, isSvcError, errorMessage } from '../../lib/errors/svc-error.ts';
import type { NativeContext, NativeModel } from '../native.ts';

/** Called while native code reads the file, as a sign of life. */
export type OnProgress = () => void;

const PROGRESS_INTERVAL_MS = 100;

/** Sums over all contexts of the model; figures of a single one are those of the first. */
export function commonFacts(
  model: NativeModel,
  contexts: readonly NativeContext[],
  projectorBytes = 0,
): LoadedFacts {
  const memory = withHostBytes(ofAllContexts(contexts.map((context) => context.memory())), projectorBytes);
  return {
    numCtx: contexts[0]?.numCtx ?? 0,
    trainedCtx: model.facts.trainedCtx,
    sequences: 1,
    threads: contexts[0]?.getThreads() ?? 0,
    calibration: [],
    gpuLayers: model.facts.gpuLayers,
    contextBytes: memory.reduce(
      (sum, { contextBytes, computeBytes }) => sum + contextBytes + computeBytes,
      0,
    ),
    residentBytes: process.memoryUsage.rss(),
    memory,
  };
}

function withHostBytes(memory: readonly DeviceBytes[], bytes: number): DeviceBytes[] {
  return memory.map((each) =>
    each.device === HOST_DEVICE ? { ...each, modelBytes: each.modelBytes + bytes } : each,
  );
}

/** Several contexts share the weights. */
export function ofAllContexts(contexts: readonly (readonly DeviceBytes[])[]): DeviceBytes[] {
  const devices = new Map<string, DeviceBytes>();
  for (const { device, modelBytes, contextBytes, computeBytes } of contexts.flat()) {
    const before = devices.get(device);
    devices.set(device, {
      device,
      modelBytes: Math.max(before?.modelBytes ?? 0, modelBytes),
      contextBytes: (before?.contextBytes ?? 0) + contextBytes,
      computeBytes: (before?.computeBytes ?? 0) + computeBytes,
    });
  }
  return [...devices.values()];
}

export function loadFailure(
  spec: Pick<LoadSpec, 'modelId'>,
  error: unknown,
  isOutOfMemory: (error: unknown) => boolean,
): Error {
  if (isSvcError(error)) return error;
  const text = errorMessage(error);
  const code = isOutOfMemory(error) ? 'out_of_memory' : 'load_failed';
  return fail(code, { model: spec.modelId, reason: text.split('\n')[0] ?? text }, error);
}

export function throttled(report: OnProgress): OnProgress {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS) return;
    last = now;
    report();
  };
}
