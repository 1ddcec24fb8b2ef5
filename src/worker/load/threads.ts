import type { LoadedFacts, LoadSpec } from '../../contract/load.ts';
import type { NativeBackend, NativeContext } from '../native.ts';
import { ownCpuMs } from '../threads/processor-use.ts';
import { type CalibrationProbe, calibrate } from './calibrate.ts';

export interface TypicalStep {
  readonly context: NativeContext;
  readonly tokens: number;
}

export async function tuneThreads(
  backend: NativeBackend,
  spec: LoadSpec,
  { context, tokens }: TypicalStep,
): Promise<Pick<LoadedFacts, 'threads' | 'calibration'>> {
  const known = spec.threads ?? spec.tunedThreads;
  if (known !== null || backend.facts.gpu !== 'none')
    return { threads: known ?? context.getThreads(), calibration: [] };
  const { threads, tried, quiet } = await calibrate(
    threadsFor(backend, spec),
    calibrationProbe(context, tokens),
  );
  context.setThreads(threads);
  // A measurement on a busy machine is not reported, because no plan should use it.
  return { threads, calibration: quiet ? tried : [] };
}

type GivenThreads = Pick<LoadSpec, 'threads' | 'tunedThreads'>;

/** All physical cores, unless the user or an earlier calibration sets another number. */
export function threadsFor(backend: NativeBackend, spec: GivenThreads): number {
  return spec.threads ?? spec.tunedThreads ?? Math.max(1, backend.facts.cpuMathCores);
}

function calibrationProbe(context: NativeContext, tokens: number): CalibrationProbe {
  const step = new Uint32Array(tokens);
  return {
    async step(threads) {
      context.setThreads(threads);
      context.initBatch(tokens);
      context.addToBatch(0, 0, step, Uint32Array.of(tokens - 1));
      const started = performance.now();
      context.decodeBatch();
      const ms = performance.now() - started;
      context.clearSequence(0);
      return ms;
    },
    cpuMs: ownCpuMs,
  };
}
