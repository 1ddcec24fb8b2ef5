/**
 * worker/load owns the way from a load spec to a model at work: it opens the file, chooses threads, and says what came
 * of it. It knows no jobs, and nothing of the library but its page (native.ts).
 */
import type { LoadedFacts, LoadSpec } from '../../contract/load.ts';
import { fail, isSvcError } from '../../lib/errors/svc-error.ts';
import type { NativeContext, NativeModel } from '../native.ts';

/** Called while native code reads the file, as a sign of life. */
export type OnProgress = () => void;

const PROGRESS_INTERVAL_MS = 100;

export function commonFacts(model: NativeModel, context: NativeContext): LoadedFacts {
  return {
    numCtx: context.numCtx,
    trainedCtx: model.facts.trainedCtx,
    sequences: 1,
    threads: context.getThreads(),
    calibration: [],
    gpuLayers: model.facts.gpuLayers,
    contextBytes: contextBytes(context),
    residentBytes: process.memoryUsage.rss(),
    memory: [...context.memory()],
  };
}

/** KV cache and compute buffers, on all devices. */
function contextBytes(context: NativeContext): number {
  return context
    .memory()
    .reduce((sum, { contextBytes: cache, computeBytes }) => sum + cache + computeBytes, 0);
}

/** The library's own words about a bad file are the best reason there is. */
export function loadFailure(
  spec: Pick<LoadSpec, 'modelId'>,
  error: unknown,
  isOutOfMemory: (error: unknown) => boolean,
): Error {
  if (isSvcError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = isOutOfMemory(error) ? 'out_of_memory' : 'load_failed';
  return fail(code, { model: spec.modelId, reason: text.split('\n')[0] ?? text }, error);
}

/** Ten times a second at most. */
export function throttled(report: OnProgress): OnProgress {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS) return;
    last = now;
    report();
  };
}
