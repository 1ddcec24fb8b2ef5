/** What a ratio a/b of a figure should be. Two cores of AMD and of Intel differ in what a second row costs. */
export interface Goal {
  readonly bound: 'at least' | 'at most';
  readonly ratio: number;
}

interface GoalRow extends Omit<Goal, 'ratio'> {
  readonly scenario: string;
  readonly figure: string;
  readonly ratio: number | { readonly amd: number; readonly other: number };
}

const least = (scenario: string, figure: string, ratio: GoalRow['ratio']): GoalRow => ({
  scenario,
  figure,
  bound: 'at least',
  ratio,
});
const most = (scenario: string, figure: string, ratio: number): GoalRow => ({
  scenario,
  figure,
  bound: 'at most',
  ratio,
});

/** In front of the name of a measure: the goals of a server against the bare library. */
export const GOAL_OF_BARE = 'bare ';

/** Against llama-server on the same machine with the same threads and model. */
const GOALS: readonly GoalRow[] = [
  least('decode', 'decode tok/s', 1.1),
  least('concurrency-2', 'tok/s together', { amd: 1.4, other: 1.1 }),
  least('concurrency-4', 'tok/s together', { amd: 1.15, other: 1.05 }),
  least('concurrency-8', 'tok/s together', { amd: 1.1, other: 1.05 }),
  ...[2, 4, 8].flatMap((streams) => [
    most(`concurrency-${streams}`, 'gap p99 ms', 1.2),
    most(`burst-${streams}`, 'gap p99 ms', 1.2),
  ]),
  least('prefill-512', 'prompt tok/s', 1),
  least('prefill-4096', 'prompt tok/s', 1),
  most('prefix', 'later turns first token p50 ms', 0.8),
  most('mixed', 'longest gap ms', 0.1),
  most('mixed', 'second first token ms', 1.15),
  most('health', 'health p50 ms', 1),
  most('one-token', 'whole answer p50 ms', 1),
  least('embed-batch', 'inputs/s', 1.05),
  least('embed-single', 'inputs/s', 1),
  most('memory', 'RSS MiB', 1.1),
  least(`${GOAL_OF_BARE}decode`, 'decode tok/s', 0.97),
];

/** `cpu` is its name as the system gives it. */
export function goalOf(scenario: string, figure: string, cpu: string): Goal | null {
  const row = GOALS.find((goal) => goal.scenario === scenario && goal.figure === figure);
  if (row === undefined) return null;
  const { bound, ratio } = row;
  if (typeof ratio === 'number') return { bound, ratio };
  return { bound, ratio: /\bAMD\b/i.test(cpu) ? ratio.amd : ratio.other };
}

export function isMet({ bound, ratio: goal }: Goal, ratio: number): boolean {
  return bound === 'at least' ? ratio >= goal : ratio <= goal;
}
