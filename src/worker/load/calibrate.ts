/**
 * Chooses the thread count that a model begins with, by measuring, because no rule holds: on small models the library's
 * spinning barriers make two threads slower than one, on large models all cores win. It sees half a second, so it is
 * never kept: running steps find the count that is (worker/threads).
 */
import type { LoadedFacts } from '../../contract/load.ts';
import { threadCounts } from '../threads/counts.ts';

interface CalibrationLimits {
  /** Measuring time per thread count; a slow step still runs `fewestSteps` times. */
  readonly perCountMs: number;
  readonly fewestSteps: number;
  /** After this time, no further thread count is tried. */
  readonly totalMs: number;
}

const CALIBRATION_LIMITS: CalibrationLimits = { perCountMs: 40, fewestSteps: 3, totalMs: 600 };

interface Calibration {
  readonly threads: number;
  readonly tried: LoadedFacts['calibration'];
  /** False when other programs used the processor meanwhile: then only a step that was short anyway decides. */
  readonly quiet: boolean;
}

export interface CalibrationProbe {
  /** Runs one typical step on this number of threads and resolves with its milliseconds. */
  step(threads: number): Promise<number>;
  /** Processor time of this process so far, milliseconds. */
  cpuMs(): number;
}

/** Threads that wait for each other spin, so an undisturbed step uses all of its threads nearly all of the time. */
const QUIET_SHARE = 0.8;

/** A rate this close to the best is as good; more threads then also make prefill faster. */
const AS_GOOD = 1.05;

/**
 * A step as short as this stays on one thread. Further threads sleep between steps, and Linux lets one in two of them wait
 * for some ten milliseconds when the steps do not follow each other closely: requests of one token took 8 ms (p50) on two
 * threads and 3.5 on one. While measuring they do follow closely, which hides this.
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
  // When the time is up after one thread, the model is a large one, and those need all cores.
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

/** The mean would be dominated by one step in which the host was busy. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.POSITIVE_INFINITY;
}
