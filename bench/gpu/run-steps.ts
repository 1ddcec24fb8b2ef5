/** One step after the other, each with the time that it may take; a failure is a result. */
import type { Cells, Report, StepResult } from './report.ts';

/** A step fills it while it runs, so that one that is cut leaves what it had. */
export interface Sheet {
  readonly rows: Cells[];
  readonly notes: Record<string, unknown>;
  readonly signal: AbortSignal;
}

export interface Step {
  readonly name: string;
  readonly seconds: number;
  run(sheet: Sheet): Promise<void>;
}

/** A step with less left than this would only be cut. */
const LEAST_SECONDS = 10;

export async function runSteps(steps: readonly Step[], report: Report, totalSeconds: number): Promise<void> {
  const end = performance.now() + totalSeconds * 1000;
  for (const step of steps) {
    const left = (end - performance.now()) / 1000;
    const begin = performance.now();
    const result = await outcome(step, Math.min(step.seconds, left), left);
    report.add({ step: step.name, seconds: (performance.now() - begin) / 1000, ...result });
  }
}

async function outcome(
  step: Step,
  seconds: number,
  left: number,
): Promise<Omit<StepResult, 'step' | 'seconds'>> {
  if (left < Math.min(LEAST_SECONDS, step.seconds)) return { rows: [], error: 'no time was left' };
  const cut = new AbortController();
  const sheet = { rows: [], notes: {}, signal: cut.signal };
  const cutting = new Promise<never>((_, reject) => {
    const late = () => reject(new Error(`it was cut after ${Math.round(seconds)} s`));
    setTimeout(late, seconds * 1000).unref();
  });
  try {
    await Promise.race([step.run(sheet), cutting]);
    return { rows: sheet.rows, notes: sheet.notes };
  } catch (error) {
    cut.abort(error);
    return {
      rows: sheet.rows,
      notes: sheet.notes,
      error: error instanceof Error ? error.message : String(error),
    };
  }
}
