/** An engine over a backend of fake children, and submissions for it. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/base/clock.ts';
import type { Backend, Engine, ModelTarget, Submission } from '../../../src/server/engine/ports.ts';
import { type LocalSource, localTarget } from '../../../src/server/engine/local/model-source.ts';
import { createEngine, type EngineOptions } from '../../../src/server/engine/scheduler/loop.ts';
import { keepingLog, textJob } from '../../fault/worker/worker-rig.ts';

const mib = 1024 * 1024;

export function engineOver(backend: Backend, options: Partial<EngineOptions> = {}): Engine {
  const engine = createEngine({
    backends: { local: backend },
    clock: systemClock,
    log: keepingLog(),
    freeMemory: () => [{ device: 'CPU', bytes: 8_192 * mib }],
    ...options,
  });
  onTestFinished(() => engine.drain(0));
  return engine;
}

export function target(modelId: string, over: Partial<LocalSource> = {}): ModelTarget {
  return localTarget(
    { modelId, kind: 'chat', trainedCtx: 4_096, defaultCtx: 512 },
    {
      path: `/nowhere/${modelId}.gguf`,
      digest: null,
      threads: 1,
      settings: {},
      experts: null,
      attached: { adapters: [], draft: null },
      weightsBytes: mib,
      kvBytesPerToken: 1_024,
      verify: async () => {},
      ...over,
    },
  );
}

export function submission(modelId: string, text = 'x', over: Partial<Submission> = {}): Submission {
  return {
    target: target(modelId),
    job: textJob(text),
    clientKey: 'somebody',
    numCtx: null,
    keepAliveMs: null,
    ...over,
  };
}
