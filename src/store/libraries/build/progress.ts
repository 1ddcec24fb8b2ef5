/** Events of a build, as plain data, and how its steps are read from the output of ninja or make. */
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
      /** Null while it is too early to estimate. */
      readonly secondsLeft: number | null;
    }
  | { readonly status: 'trying' | 'measuring' };

export type OnBuildEvent = (event: BuildEvent) => void;

export interface Step {
  readonly completed: number;
  readonly total: number;
}

/** `[12/77] …` of ninja, `[ 15%] …` of make; null for any other line. */
export function parseStep(line: string): Step | null {
  const [, completed, total] = /^\[(\d+)\/(\d+)\]/.exec(line) ?? [];
  if (completed !== undefined && total !== undefined)
    return { completed: Number(completed), total: Number(total) };
  const [, percent] = /^\[\s*(\d+)%\]/.exec(line) ?? [];
  return percent === undefined ? null : { completed: Number(percent), total: 100 };
}

/** The first steps say too little of the others. */
const FEWEST_STEPS = 5;

/** Steps differ in length; that they are mixed is near enough for a guess. Null until there is something to go by. */
export function secondsLeft({ completed, total }: Step, elapsedMs: number): number | null {
  if (completed < FEWEST_STEPS || elapsedMs <= 0) return null;
  return Math.round(((elapsedMs / completed) * (total - completed)) / 1000);
}
