/**
 * Measures the first thread count of a model, because no rule holds: on small models the library's spinning barriers
 * make two threads slower than one, on large models all cores win. A measurement takes half a second and is never
 * stored; worker/threads finds the best count later.
 */
import type { LoadedFacts } from '../../contract/load.ts';
import { threadCounts } from '../threads/counts.ts';

interface CalibrationLimits {
  /** Measuring time per thread count; a slow step still runs `fewestSteps` times. */
  readonly perCountMs: number;
  readonly fewestSteps: number;
  readonly totalMs: number;
}

const CALIBRATION_LIMITS: CalibrationLimits = { perCountMs: 40, fewestSteps: 3, totalMs: 600 };

interface Calibration {
  readonly threads: number;
  readonly tried: LoadedFacts['calibration'];
  /** False if other programs used the CPU meanwhile: then only a step that was short anyway decides. */
  readonly quiet: boolean;
}

export interface CalibrationProbe {
  step(threads: number): Promise<number>;
  cpuMs(): number;
}

/** Threads that wait for each other spin, so an undisturbed step uses all of its threads nearly all of the time. */
const QUIET_SHARE = 0.8;

/** A rate this close to the best is as good; more threads then also make prefill faster. */
const AS_GOOD = 1.05;

/**
 * A step as short as this stays on one thread. Further threads sleep between steps, and Linux delays one in two of
 * them by about ten milliseconds if steps do not follow each other closely: requests of one token took 8 ms (p50) on
 * two threads and 3.5 on one. The measurement cannot show this, because its steps do follow closely.
 */
const SHORT_STEP_MS = 2;

/**
 * One thread is tried first: it is never pathological, while a single step on two threads can take half a second on a
 * busy host.
 */
export async function calibrate(
  cores: number,
  probe: CalibrationProbe,
  limits: CalibrationLimits = CALIBRATION_LIMITS,
): Promise<Calibration> {
  const tried: { threads: number; tokensPerS: number }[] = [];
  // If the time is up after one thread, the model is large, and needs all cores.
  let leftMs = limits.totalMs;
  let quiet = true;
  for (const threads of threadCounts(cores)) {
    if (leftMs <= 0) break;
    leftMs -= await probe.step(threads);
    const cpuBefore = probe.cpuMs();
    const times: number[] = [];
    let spentMs = 0;
    do {
      const ms = await probe.step(threads);
      times.push(ms);
      spentMs += ms;
    } while (spentMs < leftMs && (times.length < limits.fewestSteps || spentMs < limits.perCountMs));
    leftMs -= spentMs;
    quiet &&= probe.cpuMs() - cpuBefore >= spentMs * threads * QUIET_SHARE;
    tried.push({ threads, tokensPerS: 1000 / median(times) });
  }
  const chosen = quiet && tried.length > 1 ? bestThreads(tried) : cores;
  return { threads: isShort(tried) ? 1 : chosen, tried, quiet };
}

function isShort(tried: LoadedFacts['calibration']): boolean {
  const alone = tried.find(({ threads }) => threads === 1);
  return alone !== undefined && 1000 / alone.tokensPerS <= SHORT_STEP_MS;
}

function bestThreads(tried: LoadedFacts['calibration']): number {
  const best = Math.max(...tried.map(({ tokensPerS }) => tokensPerS));
  return Math.max(
    ...tried.filter(({ tokensPerS }) => tokensPerS * AS_GOOD >= best).map(({ threads }) => threads),
  );
}

/** One step on a busy host would dominate the mean. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.POSITIVE_INFINITY;
}
