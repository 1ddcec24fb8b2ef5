/** The steps of a run, those first that are worth most. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Side } from '../client/side.ts';
import { SAMPLED, type TextOf } from '../compare/scenario.ts';
import { textOfTokens } from '../compare/text-of-tokens.ts';
import { type Figures, median } from '../statistics.ts';
import { writeLarge } from '../../tools/models/large.ts';
import { askOnce } from './ask.ts';
import type { Bench, BenchModel } from './bench.ts';
import { printed, usedMiB } from './card.ts';
import { frozen } from './frozen.ts';
import { type RunningServer, sideOf, startLlamaServer } from './llama-server.ts';
import { decodeRates, type Load, prefillRates } from './rates.ts';
import { memoryCells, residency } from './residency.ts';
import type { Sheet, Step } from './run-steps.ts';
import { shortLoads, takenFromUnder } from './shortage.ts';

const EXTRA = { ...(JSON.parse(SAMPLED) as object), ignore_eos: true };
const LOADS = 2;
const WARM_TOKENS = 16;
const ALL_LAYERS = 99;

export function stepsOf(bench: Bench): Step[] {
  const quantised = bench.models.filter(({ type }) => type !== 'F16');
  const halves = bench.models.filter(({ type }) => type === 'F16');
  const large = quantised[0] ?? halves[0];
  const small = quantised.at(-1) ?? halves.at(-1);
  if (large === undefined || small === undefined) throw new Error('--models names none');
  return [
    { name: 'machine', seconds: 60, run: (sheet) => machine(bench, sheet) },
    ...quantised.flatMap((model) => measured(bench, model)),
    { name: `frozen-v1, ${small.id}`, seconds: 60, run: (sheet) => frozen(bench, small, sheet) },
    { name: `little memory, ${large.id}`, seconds: 60, run: (sheet) => shortLoads(bench, large, sheet) },
    {
      name: `memory taken away, ${small.id}`,
      seconds: 45,
      run: (sheet) => takenFromUnder(bench, small, sheet),
    },
    { name: `llama-bench, ${large.id}`, seconds: 30, run: (sheet) => llamaBench(bench, large, sheet) },
    { name: `Vulkan, ${small.id}`, seconds: 60, run: (sheet) => vulkan(bench, small, sheet) },
    ...halves.flatMap((model) => measured(bench, model)),
  ];
}

const measured = (bench: Bench, model: BenchModel): Step[] => [
  { name: `model ${model.id}`, seconds: 90, run: (sheet) => install(bench, model, sheet) },
  { name: `load, ${model.id}`, seconds: 60, run: (sheet) => loads(bench, model, sheet) },
  { name: `streams, ${model.id}`, seconds: 110, run: (sheet) => streams(bench, model, sheet) },
];

async function machine({ hearth, library, manyStreams }: Bench, { rows, notes }: Sheet): Promise<void> {
  const columns = 'name,driver_version,memory.total,memory.used,pstate';
  notes['nvidia-smi'] = await printed('nvidia-smi', `--query-gpu=${columns}`, '--format=csv');
  if (library !== null) {
    const { code, out, err } = await hearth.verb('library', 'use', library);
    notes[`hearth library use, exit code ${code}`] = `${out}${err}`;
  }
  for (const verb of ['library', 'gpu', 'doctor']) {
    const { code, out, err } = await hearth.verb(verb);
    notes[`hearth ${verb}, exit code ${code}`] = `${out}${err}`;
  }
  const healthyMs = await hearth.ensure(manyStreams);
  const cpu = cpus()[0]?.model ?? 'unknown';
  rows.push({ cpu, cores: cpus().length, 'RAM GiB': totalmem() / 2 ** 30, 'healthy ms': healthyMs });
}

async function install(
  bench: Bench,
  { id, shape, type, file }: BenchModel,
  { rows, notes }: Sheet,
): Promise<void> {
  const { hearth, layers, window } = bench;
  const begin = performance.now();
  if (!existsSync(file))
    await writeLarge(file, { shape, type, contextLength: window, ...(layers !== null && { layers }) });
  const written = performance.now();
  const isKnown = (await hearth.verb('show', id)).code === 0;
  if (!isKnown) await hearth.mustRun('import', file, '--id', id);
  notes['hearth fit'] = await hearth.json('fit', id);
  rows.push({ 'write s': (written - begin) / 1000, 'import s': (performance.now() - written) / 1000 });
}

/** To the first token of an unloaded model; the file is in the system's cache. */
async function loads(bench: Bench, model: BenchModel, sheet: Sheet): Promise<void> {
  await bench.hearth.ensure(bench.manyStreams);
  await loadRows(bench, model, sheet);
}

async function loadRows(bench: Bench, model: BenchModel, { rows, signal }: Sheet): Promise<void> {
  const side = hearthSide(bench, model);
  for (let load = 0; load < LOADS; load += 1) {
    await unload(bench);
    const before = await usedMiB();
    const { ms } = await askOnce(side, { words: 10, seed: load, tokens: 1, signal });
    const resident = await residency(bench, model);
    rows.push({
      load,
      'first answer ms': ms,
      window: resident.num_ctx,
      slots: resident.slots,
      ...memoryCells(resident),
      'card MiB more': difference(before, await usedMiB()),
    });
  }
}

/** All of them, so that the card holds nothing of an earlier step. */
async function unload({ hearth, models }: Bench): Promise<void> {
  for (const { id } of models) await hearth.verb('stop', id);
}

const difference = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : after - before;

const hearthSide = ({ hearth }: Bench, { id }: BenchModel): Side => ({
  name: 'hearth',
  url: hearth.url,
  model: id,
  extra: EXTRA,
});

/** Beside llama-server where it is built, in turns. */
async function streams(bench: Bench, model: BenchModel, sheet: Sheet): Promise<void> {
  await bench.hearth.ensure(bench.manyStreams);
  const hearth = hearthSide(bench, model);
  const other = await startOther(bench, model, sheet);
  try {
    const sides = other === null ? [hearth] : [hearth, sideOf(other.url, EXTRA)];
    const textOf = await textOfTokens(hearth);
    for (const count of bench.streams) await inTurns(bench, sides, { count, textOf }, sheet);
    sheet.notes['after the streams'] = memoryCells(await residency(bench, model));
    sheet.notes['card MiB after the streams'] = await usedMiB();
  } finally {
    await other?.stop();
  }
}

async function startOther(
  { programs, port, streams: counts, window, onCard, out }: Bench,
  { file }: BenchModel,
  { notes, signal }: Sheet,
): Promise<RunningServer | null> {
  if (programs === null) return null;
  const before = await usedMiB();
  try {
    const other = await startLlamaServer({
      file: path.join(programs, 'llama-server'),
      model: file,
      port: port + 1,
      slots: Math.max(...counts),
      window,
      layers: onCard ? ALL_LAYERS : 0,
      log: path.join(out, 'llama-server.log'),
      signal,
    });
    notes['llama-server ready ms'] = other.readyMs;
    notes['llama-server card MiB more'] = difference(before, await usedMiB());
    return other;
  } catch (error) {
    notes['llama-server'] = error instanceof Error ? error.message : String(error);
    return null;
  }
}

async function inTurns(
  { tokens, promptTokens, rounds }: Bench,
  sides: readonly Side[],
  { count, textOf }: { readonly count: number; readonly textOf: TextOf },
  { rows, signal }: Sheet,
): Promise<void> {
  const all = sides.map((): Figures[] => []);
  // Round -1 warms a side and is not counted.
  for (let round = -1; round < rounds; round += 1) {
    for (const [at, side] of sides.entries()) {
      const load: Load = { streams: count, tokens, seed: 10 * count + round + 1, textOf, signal };
      const decoded = await decodeRates(side, round < 0 ? { ...load, tokens: WARM_TOKENS } : load);
      const read = await prefillRates(side, { ...load, tokens: promptTokens, seed: load.seed + 5000 });
      if (round >= 0) all[at]?.push({ ...decoded, ...read });
    }
  }
  for (const [at, side] of sides.entries())
    rows.push({ streams: count, server: side.name, ...medians(all[at] ?? []) });
}

function medians(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(all.flatMap((figures) => figures[name] ?? []))]),
  );
}

/** The package that `hearth gpu install vulkan` fetches, without the user's own build. */
async function vulkan(bench: Bench, model: BenchModel, sheet: Sheet): Promise<void> {
  const { hearth, onCard, library, manyStreams } = bench;
  if (!onCard) throw new Error('no GPU is used');
  await hearth.stop();
  await hearth.verb('library', 'remove');
  try {
    await hearth.ensure({ ...manyStreams, SVC_GPU: 'vulkan' });
    await loadRows(bench, model, sheet);
    const side = hearthSide(bench, model);
    const textOf = await textOfTokens(side);
    for (const count of bench.streams) await inTurns(bench, [side], { count, textOf }, sheet);
  } finally {
    await hearth.stop();
    if (library !== null) await hearth.verb('library', 'use', library);
  }
}

async function llamaBench(bench: Bench, { file }: BenchModel, { rows, notes, signal }: Sheet): Promise<void> {
  const { programs, promptTokens, onCard } = bench;
  if (programs === null) throw new Error('it was not built');
  await unload(bench);
  const layers = onCard ? ALL_LAYERS : 0;
  const words = `-p ${promptTokens} -n 128 -ngl ${layers} -fa 1 -r 2 -o json`.split(' ');
  const { stdout } = await promisify(execFile)(path.join(programs, 'llama-bench'), ['-m', file, ...words], {
    signal,
  });
  notes['llama-bench'] = stdout;
  for (const run of JSON.parse(stdout) as readonly BenchRun[])
    rows.push({ prompt: run.n_prompt, decoded: run.n_gen, 'tok/s': run.avg_ts });
}

interface BenchRun {
  readonly n_prompt: number;
  readonly n_gen: number;
  readonly avg_ts: number;
}
