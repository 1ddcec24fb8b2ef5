/** The engine as use cases see it: a list of stages before the scheduler, each of which sees every submission. */
import type { Engine, JobListener, LoadForecast, ModelTarget, Submission } from './ports.ts';

export interface EngineStage {
  /** Passes the submission to `next` or ends it here; the listener is never called from inside this call. */
  take(submission: Submission, signal: AbortSignal, listener: JobListener, next: Engine['submit']): void;
  plan?(target: ModelTarget, numCtx: number | null, next: Engine['plan']): LoadForecast;
  close?(): void;
}

interface Way {
  readonly submit: Engine['submit'];
  readonly plan: Engine['plan'];
}

export function stagedEngine(engine: Engine, stages: readonly EngineStage[]): Engine {
  const last: Way = {
    submit: (submission, signal, listener) => engine.submit(submission, signal, listener),
    plan: (target, numCtx) => engine.plan(target, numCtx),
  };
  const way = stages.reduceRight<Way>(
    (next, stage) => ({
      submit: (submission, signal, listener) => stage.take(submission, signal, listener, next.submit),
      plan: (target, numCtx) => stage.plan?.(target, numCtx, next.plan) ?? next.plan(target, numCtx),
    }),
    last,
  );
  return {
    ...way,
    residencies: () => engine.residencies(),
    queueFull: (clientKey) => engine.queueFull(clientKey),
    unload: (modelId) => engine.unload(modelId),
    watchSlots: (onSlots) => engine.watchSlots(onSlots),
    drain: (graceMs) => {
      for (const stage of stages) stage.close?.();
      return engine.drain(graceMs);
    },
  };
}
