/** The printed table of `compare`: one row per figure, with its goal and whether it is met. */
import { type Comparison, ratioText } from '../neighbours.ts';
import { rounded } from '../statistics.ts';
import { type Goal, isMet } from './goals.ts';

export const HEADER =
  '| scenario | figure | a | b | a/b, median (least to most) | rounds | goal | |\n|---|---|---|---|---|---|---|---|';

export function row(scenario: string, found: Comparison, goal: Goal | null): string {
  const goalCells = goal === null ? ['', ''] : [`${goal.bound} ${goal.ratio}`, verdict(goal, found)];
  const cells = [scenario, found.figure, rounded(found.a), rounded(found.b), ratioText(found), found.rounds];
  return `| ${[...cells, ...goalCells].join(' | ')} |`;
}

const verdict = (goal: Goal, { ratio }: Comparison): string => (isMet(goal, ratio) ? 'met' : '**missed**');

/** Why a scenario has no figures, or those of fewer rounds than asked. */
export function unmeasuredRow(scenario: string, rounds: number, why: string): string {
  const said = why.replaceAll(/\s+/g, ' ').replaceAll('|', '/');
  return `| ${scenario} | ended after ${rounds} rounds: ${said} | | | | | | |`;
}
