/**
 * Races step planners in real workers: the tuned one against the plain one, or against itself without single parts.
 * Two workers at a time, interleaved in both orders; each round starts both anew, because two processes of one build
 * can differ for as long as they live. The ratio of neighbours counts, not the figures themselves.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PlannerPart, type PlannerChoice } from '../../src/contract/load.ts';
import { compareNeighbours, inTurn, type Pair, ratioText } from '../neighbours.ts';
import { type Figures, rounded } from '../statistics.ts';
import { type Race, type RacedWorker, startWorker } from './raced-worker.ts';
import { type Workload, workloads } from './workloads.ts';

const TUNED: PlannerChoice = { kind: 'tuned', without: [] };

/** Every planner that can be raced against the tuned one. `tuned` itself shows the noise of the machine. */
const challengers: ReadonlyMap<string, PlannerChoice> = new Map([
  ['plain', { kind: 'plain', without: [] }],
  ['tuned', TUNED],
  ...PlannerPart.anyOf.map(
    ({ const: part }) => [`no-${part}`, { kind: 'tuned', without: [part] }] as [string, PlannerChoice],
  ),
]);

/** Between two runs, so that neither pays for the threads of the other. */
const REST_MS = 300;

export async function planner(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string' },
      rounds: { type: 'string', default: '4' },
      streams: { type: 'string', default: '1,2,4,8' },
      against: { type: 'string', default: 'plain' },
      only: { type: 'string', default: workloads.map(({ name }) => name).join(',') },
      threads: { type: 'string', default: String(availableParallelism()) },
      'num-ctx': { type: 'string', default: '2048' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 100_000)) },
    },
  });
  if (values.model === undefined) throw new Error('give a model: --model FILE (npm run bench -- model FILE)');
  const streams = values.streams.split(',').map(Number);
  const race: Race = {
    file: path.resolve(values.model),
    threads: Number(values.threads),
    numCtx: Number(values['num-ctx']),
    sequences: Math.max(...streams) + 1,
  };
  const chosen = values.only.split(',').map((name) => named(workloads, name));
  const sides = values.against === 'all' ? [...challengers.keys()] : values.against.split(',');
  const unknown = sides.find((name) => !challengers.has(name));
  if (unknown !== undefined) {
    throw new Error(
      `there is no planner "${unknown}"; there are: all, ${[...challengers.keys()].join(', ')}`,
    );
  }
  console.log(`--seed ${values.seed}; medians, and the median ratio of neighbours (least to most)\n`);
  console.log('| workload | streams | figure | tuned | other | planner | tuned/other |');
  console.log('|---|---|---|---|---|---|---|');
  for (const name of sides) {
    await raceAgainst(name, {
      race,
      chosen,
      streams,
      rounds: Number(values.rounds),
      seed: Number(values.seed),
    });
  }
}

interface Match {
  readonly race: Race;
  readonly chosen: readonly Workload[];
  readonly streams: readonly number[];
  readonly rounds: number;
  readonly seed: number;
}

async function raceAgainst(name: string, match: Match): Promise<void> {
  const pairs = new Map<string, Pair[]>();
  for (let round = 0; round < match.rounds; round += 1) {
    const [tuned, other] = await Promise.all([
      startWorker(match.race, { planner: TUNED }),
      startWorker(match.race, { planner: challengers.get(name) ?? TUNED }),
    ]);
    try {
      for (const worker of [tuned, other]) await warmUp(worker);
      for (const workload of match.chosen) {
        for (const streams of match.streams) {
          const seed = match.seed + round * 1_000 + streams;
          const pair = await inTurn(
            round,
            () => rested(() => workload.run(tuned, streams, seed)),
            () => rested(() => workload.run(other, streams, seed)),
          );
          const key = `${workload.name} | ${streams}`;
          pairs.set(key, [...(pairs.get(key) ?? []), pair]);
        }
      }
    } finally {
      await Promise.all([tuned.close(), other.close()]);
    }
  }
  for (const [key, found] of pairs) printRows(key, name, found);
}

/** A planner learns its prices from what it sees; the first prefill of a process is slow besides. */
async function warmUp(worker: RacedWorker): Promise<void> {
  const answers = [1, 2, 3, 4].map((seed) =>
    worker.answer(worker.textOf(80, seed), { maxTokens: 16, temperature: 1 }),
  );
  await Promise.all(answers);
  await worker.answer(worker.textOf(400, 5), { maxTokens: 8, temperature: 1 });
}

const rested = async (run: () => Promise<Figures>): Promise<Figures> => {
  await setTimeout(REST_MS);
  return await run();
};

function printRows(key: string, name: string, pairs: readonly Pair[]): void {
  for (const found of compareNeighbours(pairs)) {
    const [tuned, other] = [found.a, found.b].map(rounded);
    console.log(`| ${key} | ${found.figure} | ${tuned} | ${other} | ${name} | ${ratioText(found)} |`);
  }
}

function named<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const found = all.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no workload "${name}"; there are: ${all.map((entry) => entry.name).join(', ')}`);
}
