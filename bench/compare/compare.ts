/**
 * Two servers, one run: each scenario is measured on both in turn, because machines are noisy and drift. Printed are
 * the medians, the median ratio of neighbours with its least and most, and the goal that it should meet.
 */
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { baseUrl, type Side } from '../client/side.ts';
import { compareNeighbours, inTurn, type Pair } from '../neighbours.ts';
import { text } from '../words.ts';
import { chooseScenarios, scenarios } from './scenarios.ts';
import { SAMPLED, type Scenario, type TextOf } from './scenario.ts';
import { type Goal, goalOf } from './goals.ts';
import { HEADER, row, unmeasuredRow } from './table.ts';
import { textOfTokens } from './text-of-tokens.ts';

export async function compare(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      a: { type: 'string' },
      b: { type: 'string' },
      'model-a': { type: 'string', default: 'default' },
      'model-b': { type: 'string', default: 'default' },
      rounds: { type: 'string', default: '6' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      only: { type: 'string' },
      body: { type: 'string', default: SAMPLED },
    },
  });
  if (values.a === undefined || values.b === undefined)
    throw new Error('give two base URLs: --a URL --b URL');
  const extra = JSON.parse(values.body) as Record<string, unknown>;
  const a: Side = { name: 'a', url: baseUrl(values.a), model: values['model-a'], extra };
  const b: Side = { name: 'b', url: baseUrl(values.b), model: values['model-b'], extra };
  const chosen = chooseScenarios(values.only);
  const cpu = cpus()[0]?.model ?? 'unknown';
  const textOf = chosen.every(({ name }) => name.startsWith('embed')) ? text : await textOfTokens(a);
  console.log(`${cpu}, ${cpus().length} cores; --seed ${values.seed} --body '${values.body}'\n\n${HEADER}`);
  for (const scenario of chosen) {
    const firstRound = Number(values.seed) * 1000 + scenarios.indexOf(scenario) * 100;
    const match = {
      a,
      b,
      textOf,
      firstRound,
      goalOf: (figure: string) => goalOf(scenario.name, figure, cpu),
    };
    await measure(scenario, match, Number(values.rounds));
  }
}

export interface Match {
  readonly a: Side;
  readonly b: Side;
  readonly textOf: TextOf;
  /** Its own for each run and scenario: a side that remembers prompts for long must not meet one again. */
  readonly firstRound: number;
  goalOf(figure: string): Goal | null;
  /** Figures that are printed; absent: all. */
  shows?(figure: string): boolean;
}

/** Threads of an engine may spin for a while after its last step, and would take the cores from the other side. */
const REST_MS = 1_000;

export async function measure(scenario: Scenario, match: Match, rounds: number): Promise<void> {
  const pairs: Pair[] = [];
  try {
    await runRounds(scenario, match, rounds, pairs);
  } catch (error) {
    // A server without the route, or with too small a window, can still be compared in all else.
    console.log(unmeasuredRow(scenario.name, pairs.length, reasonOf(error)));
  }
  for (const found of compareNeighbours(pairs)) {
    if (match.shows?.(found.figure) === false) continue;
    console.log(row(scenario.name, found, match.goalOf(found.figure)));
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

async function runRounds(
  scenario: Scenario,
  { a, b, textOf, firstRound }: Match,
  rounds: number,
  pairs: Pair[],
): Promise<void> {
  // Round -1 warms both sides and is not counted.
  for (let round = scenario.cold ? 0 : -1; round < rounds; round += 1) {
    const run = async (side: Side) => {
      await setTimeout(REST_MS);
      return await scenario.run(side, firstRound + round + 1, textOf);
    };
    const pair = await inTurn(
      round,
      () => run(a),
      () => run(b),
    );
    if (round >= 0) pairs.push(pair);
  }
}
