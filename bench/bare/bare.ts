/**
 * The library without a server, in a process of its own: what a server can lose at most. With --beside URL a running
 * server with the same model is measured in turn, and the ratio server/library printed.
 */
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { baseUrl, type Side } from '../client/side.ts';
import { GOAL_OF_BARE, goalOf } from '../compare/goals.ts';
import { SAMPLED, type TextOf } from '../compare/scenario.ts';
import { scenarios } from '../compare/scenarios.ts';
import { row } from '../compare/table.ts';
import { textOfTokens } from '../compare/text-of-tokens.ts';
import { compareNeighbours, inTurn } from '../neighbours.ts';
import { type Figures, median, rounded } from '../statistics.ts';
import { type Library, startLibrary } from './library.ts';
import { chooseMeasures, type Measure } from './choice.ts';

/** Threads of an engine may spin for a while after its last step. */
const REST_MS = 1_000;

interface Rounds {
  readonly library: Library;
  readonly count: number;
  readonly seed: number;
}

export async function bare(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 100_000)) },
      only: { type: 'string' },
      beside: { type: 'string' },
      'model-id': { type: 'string', default: 'default' },
    },
  });
  if (values.model === undefined) throw new Error('give a model: --model FILE (npm run bench -- model FILE)');
  const chosen = chooseMeasures(values.only);
  const library = startLibrary(path.resolve(values.model), Number(values.threads));
  const rounds: Rounds = { library, count: Number(values.rounds), seed: Number(values.seed) };
  const cpu = cpus()[0]?.model ?? 'unknown';
  console.log(`${cpu}, ${values.threads} threads; --seed ${values.seed}\n`);
  try {
    if (values.beside === undefined) {
      await measureAlone(chosen, rounds);
    } else {
      const extra = JSON.parse(SAMPLED) as Record<string, unknown>;
      const url = baseUrl(values.beside);
      await measureBeside({ name: 'server', url, model: values['model-id'], extra }, chosen, rounds, cpu);
    }
  } finally {
    await library.close();
  }
}

async function measureAlone(chosen: readonly Measure[], rounds: Rounds): Promise<void> {
  console.log('| measure | figure | median | least | most |\n|---|---|---|---|---|');
  for (const measure of chosen) {
    const all: Figures[] = [];
    // Round -1 warms the library and is not counted.
    for (let round = -1; round < rounds.count; round += 1) {
      const figures = await rounds.library.ask(measure.request(rounds.seed + round));
      if (round >= 0) all.push(figures);
    }
    for (const figure of Object.keys(all[0] ?? {})) {
      const values = all.flatMap((figures) => figures[figure] ?? []);
      const cells = [median(values), Math.min(...values), Math.max(...values)].map(rounded);
      console.log(`| ${measure.name} | ${figure} | ${cells.join(' | ')} |`);
    }
  }
}

/** Measures that the server has as a scenario of `compare`, under the same name. */
async function measureBeside(
  server: Side,
  chosen: readonly Measure[],
  { library, count, seed }: Rounds,
  cpu: string,
): Promise<void> {
  console.log(
    '| measure | figure | server | library | server/library | rounds | goal | |\n|---|---|---|---|---|---|---|---|',
  );
  let textOf: TextOf | undefined;
  for (const measure of chosen) {
    const scenario = scenarios.find(({ name }) => name === measure.name);
    if (scenario === undefined) continue;
    // An embedding model answers no chat, and needs no text of so many tokens.
    if (!measure.onlyNamed) textOf ??= await textOfTokens(server);
    const rested = async (run: () => Promise<Figures>): Promise<Figures> => {
      await setTimeout(REST_MS);
      return await run();
    };
    const pairs = [];
    for (let round = -1; round < count; round += 1) {
      const pair = await inTurn(
        round,
        () => rested(() => scenario.run(server, seed * 1000 + round + 1, textOf ?? String)),
        () => rested(() => library.ask(measure.request(seed + round))),
      );
      if (round >= 0) pairs.push(pair);
    }
    for (const found of compareNeighbours(pairs))
      console.log(row(measure.name, found, goalOf(`${GOAL_OF_BARE}${measure.name}`, found.figure, cpu)));
  }
}
