export type BuildEvent =
  | {
      readonly status: 'looking';
      readonly compiler: string;
      readonly cmake: string;
      readonly generator: string;
    }
  | { readonly status: 'checking headers' }
  | { readonly status: 'configuring' }
  | {
      readonly status: 'compiling';
      readonly completed: number;
      readonly total: number;
      readonly secondsLeft: number | null;
    }
  | { readonly status: 'trying' | 'measuring' };

export type OnBuildEvent = (event: BuildEvent) => void;

export interface Step {
  readonly completed: number;
  readonly total: number;
}

/** Reads `[12/77] …` of ninja and `[ 15%] …` of make; null for any other line. */
export function parseStep(line: string): Step | null {
  const [, completed, total] = /^\[(\d+)\/(\d+)\]/.exec(line) ?? [];
  if (completed !== undefined && total !== undefined)
    return { completed: Number(completed), total: Number(total) };
  const [, percent] = /^\[\s*(\d+)%\]/.exec(line) ?? [];
  return percent === undefined ? null : { completed: Number(percent), total: 100 };
}

/** Chosen: fewer steps do not predict the rest. */
const FEWEST_STEPS = 5;

/** Assumes equal steps, which is near enough because short and long ones are mixed. Null until it can estimate. */
export function secondsLeft({ completed, total }: Step, elapsedMs: number): number | null {
  if (completed < FEWEST_STEPS || elapsedMs <= 0) return null;
  return Math.round(((elapsedMs / completed) * (total - completed)) / 1000);
}
