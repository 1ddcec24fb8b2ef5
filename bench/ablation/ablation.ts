/**
 * Runs every mechanism that exists for speed off against on, in real workers: each round starts both workers anew and
 * changes who goes first. The table is written after every trial, so a run that is ended early leaves what it measured.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inTurn } from '../neighbours.ts';
import { type Race, type RacedWorker, startWorker } from '../planner/raced-worker.ts';
import type { Figures } from '../statistics.ts';
import { countLines, type Mechanism, mechanisms, type Trial } from './mechanisms.ts';
import { ablationTable, type Measured } from './report.ts';
import { workloads } from './workloads.ts';

const NUM_CTX = 4_096;
const SEQUENCES = 5;
/** Between two runs, so that neither pays for the threads of the other. */
const REST_MS = 300;
const BUILT_IN = {
  'built-in chat': path.join('models', 'hearth-mini', 'model.gguf'),
  embedding: path.join('models', 'hearth-embed', 'model.gguf'),
};

export async function ablation(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', multiple: true, default: [] },
      embedding: { type: 'string', default: BUILT_IN.embedding },
      draft: { type: 'string' },
      only: { type: 'string' },
      rounds: { type: 'string', default: '2' },
      minutes: { type: 'string', default: '60' },
      threads: { type: 'string', default: String(availableParallelism()) },
      seed: { type: 'string', default: '1' },
      out: { type: 'string', default: path.join('generated', 'ablation.md') },
    },
  });
  const threads = Number(values.threads);
  const all = mechanisms({
    threads,
    draft: values.draft === undefined ? null : path.resolve(values.draft),
  });
  const chosen = values.only === undefined ? all : values.only.split(',').map((name) => find(all, name));
  if (values.model.length === 0 && chosen.some(({ model }) => model === undefined))
    throw new Error('give one model or several: --model FILE (npm run bench -- model FILE)');
  const models = {
    given: values.model,
    'built-in chat': BUILT_IN['built-in chat'],
    embedding: values.embedding,
  };
  const results = new Results(values.out);
  const endsMs = performance.now() + Number(values.minutes) * 60_000;
  for (const [mechanism, file, round] of planned(chosen, models, Number(values.rounds))) {
    if (performance.now() > endsMs) {
      console.log(`${values.minutes} minutes are over; ${values.out} has what was measured`);
      break;
    }
    const race = { file: path.resolve(file), threads, numCtx: NUM_CTX, sequences: SEQUENCES };
    await runOnce(mechanism, race, { round, seed: Number(values.seed) }, results);
  }
  console.log(`\n${results.table()}`);
}

interface Models extends Readonly<Record<NonNullable<Mechanism['model']>, string>> {
  readonly given: readonly string[];
}

/** Round by round, so that a run that ends early has measured everything equally often. */
function* planned(
  chosen: readonly Mechanism[],
  models: Models,
  rounds: number,
): Generator<readonly [Mechanism, string, number]> {
  for (let round = 0; round < rounds; round += 1) {
    for (const mechanism of chosen) {
      const files = mechanism.model === undefined ? models.given : [models[mechanism.model]];
      for (const file of files) yield [mechanism, file, round];
    }
  }
}

interface Turn {
  readonly round: number;
  readonly seed: number;
}

async function runOnce(
  mechanism: Mechanism,
  race: Race,
  { round, seed }: Turn,
  results: Results,
): Promise<void> {
  const begunMs = performance.now();
  const workers: RacedWorker[] = [];
  try {
    for (const options of [mechanism.on, mechanism.off]) workers.push(await startWorker(race, options));
    const [on, off] = workers;
    if (on === undefined || off === undefined) throw new Error('two workers were started');
    if (mechanism.model !== 'embedding') for (const worker of workers) await warmUp(worker);
    for (const trial of mechanism.trials) {
      const workload = workloads.get(trial.workload);
      if (workload === undefined) throw new Error(`there is no workload "${trial.workload}"`);
      const run = async (worker: RacedWorker): Promise<Figures> => {
        await setTimeout(REST_MS);
        return await workload.run(worker, trial.streams, seed + 1_000 * round);
      };
      const pair = await inTurn(
        round,
        () => run(on),
        () => run(off),
      );
      results.add(mechanism, race.file, trial, pair);
    }
  } catch (error) {
    // One mechanism that cannot run with a model must not cost the rest of an unattended run.
    console.log(`${mechanism.name}, ${path.basename(race.file)}: ${String(error)}`);
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
  console.log(`round ${round + 1}: ${mechanism.name}, ${path.basename(race.file)}, ${seconds} s`);
}

/** The first calls of a process are slow, and planners learn their prices from what they see. */
async function warmUp(worker: RacedWorker): Promise<void> {
  const answers = [1, 2].map((seed) =>
    worker.answer(worker.textOf(40, seed), { maxTokens: 12, temperature: 1 }),
  );
  await Promise.all(answers);
  await worker.answer(worker.textOf(160, 5), { maxTokens: 4, temperature: 1 });
}

class Results {
  readonly #file: string;
  readonly #found = new Map<string, Measured>();

  constructor(file: string) {
    this.#file = file;
    mkdirSync(path.dirname(file), { recursive: true });
  }

  add(mechanism: Mechanism, file: string, trial: Trial, pair: { a: Figures; b: Figures }): void {
    const model = path.basename(path.dirname(file)) + '/' + path.basename(file);
    const workload = `${trial.workload}, ${trial.streams}`;
    const key = [mechanism.name, model, workload].join('\n');
    const pairs = [...(this.#found.get(key)?.pairs ?? []), pair];
    const { figures } = trial;
    const lines = countLines(mechanism);
    this.#found.set(key, { mechanism: mechanism.name, lines, model, workload, figures, pairs });
    writeFileSync(this.#file, this.table());
  }

  table(): string {
    return ablationTable([...this.#found.values()]);
  }
}

function find(all: readonly Mechanism[], name: string): Mechanism {
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no mechanism "${name}"; there are: ${all.map((each) => each.name).join(', ')}`);
}
