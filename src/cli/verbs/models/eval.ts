/** hearth eval ID: how well a model predicts text, calls tools and writes JSON, and how far it is from another model. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { losesPredictions } from '../../../api/eval/compare.ts';
import { type Card, keepCard, signCard } from '../../../api/eval/card.ts';
import { type Measurement, measureModel } from '../../../api/eval/measure.ts';
import { type OwnRequest, readOwnRequests } from '../../../api/eval/own-requests.ts';
import { Parts } from '../../../api/eval/parts.ts';
import { reportOf, setSha256 } from '../../../api/eval/report.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { isSvcError, errorReason } from '../../../lib/errors/svc-error.ts';
import { librariesFolder } from '../../../lib/files/native-library.ts';
import type { ServedManifest } from '../../../store/files/manifest.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import type { EvalReport, TextFigures } from '../../../trust/evidence/eval-statement.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';
import { readVersion } from '../../version.ts';

/** With the load and the texts, two models stay within five minutes. */
const CASES_WITHIN_MS = 50_000;
const NAME_WIDTH = 19;

interface Flags {
  readonly against?: string;
  readonly json?: boolean;
  readonly textsOnly?: boolean;
  /** True: those of the running service. */
  readonly requests?: string | true;
  readonly svg?: string;
}

export function registerEval(program: Command, context: CliContext): void {
  program
    .command('eval <id>')
    .description(
      'measure how well a chat model predicts text, calls tools and writes JSON; with --against, exit code 1 when something is wrong with it',
    )
    .option('--against <model>', 'compare with this model, such as a larger quant of the same one')
    .option('--texts-only', 'leave out the calls and JSON answers, which take up to a minute')
    .option(
      '--requests [file]',
      'score your own requests too: those that the running service has kept (SVC_RECORD=text), or an archive of them (hearth requests --har FILE)',
    )
    .option('--svg <file>', 'write a plot to this file')
    .option('--json', 'one JSON document, with its signature')
    .action((id: string, flags: Flags) =>
      interruptible(context, (signal) => evaluate(context, id, flags, signal)),
    );
}

async function evaluate(context: CliContext, id: string, flags: Flags, signal: AbortSignal): Promise<void> {
  const registry = localRegistry(context.config());
  const ids = [id, ...(flags.against === undefined ? [] : [flags.against])];
  // All that is named is there before the first model is measured.
  const models = await Promise.all(ids.map((each) => registry.resolve(each, 'chat')));
  const own = flags.requests === undefined ? [] : await ownRequests(context, flags.requests);
  const measured: Measurement[] = [];
  const opened: Parts[] = [];
  for (const model of models) {
    const run = { registry, model, own, first: measured[0] ?? null };
    const parts = await openParts(context, run, flags);
    opened.push(parts);
    measured.push(await measure(context, { ...run, parts }, flags, signal));
  }
  const [candidate, reference = null] = measured;
  const [model, other = null] = models;
  if (candidate === undefined || model === undefined) throw new Error('no model was measured');
  const isWorse = reference !== null && other !== null && losesPredictions(candidate, reference);
  const report = reportOf(
    candidate,
    reference,
    isWorse ? await registry.otherTensors(model, other, signal) : null,
  );
  const card = await signed(context, registry, { model, reference: other }, { ...candidate, report });
  if (flags.svg !== undefined) {
    const { evalPlot } = await import('./eval-plot.ts');
    await writeFile(flags.svg, evalPlot(report));
  }
  if (flags.json === true) context.printJson(card ?? report);
  else context.print(linesOf(report));
  await Promise.all(opened.map((parts) => parts.remove()));
  if (report.findings.length > 0)
    throw new CliFailure(`${candidate.model}: ${report.findings[0]}`, EXIT_CODES.failure);
}

interface Run {
  readonly registry: Registry;
  readonly model: ServedManifest;
  readonly own: readonly OwnRequest[];
  /** The candidate, once it is measured. */
  readonly first: Measurement | null;
}

async function targetOf(context: CliContext, { registry, model }: Pick<Run, 'registry' | 'model'>) {
  const { numCtx, numThreads } = context.config();
  return registry.toTarget(model, { numCtx, numThreads, companions: await registry.companions(model) });
}

async function openParts(context: CliContext, run: Run, { textsOnly = false }: Flags): Promise<Parts> {
  const { revision, defaultCtx } = await targetOf(context, run);
  const { home, numParallel } = context.config();
  const isFirst = run.first === null;
  const key = [readVersion(), setSha256(), revision, defaultCtx, numParallel, isFirst, textsOnly];
  const parts = await Parts.open(home, JSON.stringify(key), systemClock.unixMs());
  if (parts.kept > 0) {
    context.note(
      printable(`${run.model.id}: continuing an interrupted run (${parts.kept} parts are there).`),
    );
  }
  return parts;
}

async function measure(
  context: CliContext,
  { registry, model, own, first, parts }: Run & { readonly parts: Parts },
  { textsOnly = false }: Flags,
  signal: AbortSignal,
): Promise<Measurement> {
  const { home, numParallel } = context.config();
  const target = await targetOf(context, { registry, model });
  context.note(printable(`Loading ${model.id} …`));
  await target.source.verify();
  return measureModel({
    worker: { env: context.env, gpu: 'off', libraries: librariesFolder(home) },
    target,
    bitsPerWeight: await registry.bitsPerWeight(model),
    slots: numParallel,
    // Only those of the candidate count.
    casesWithinMs: first === null && !textsOnly ? CASES_WITHIN_MS : null,
    needleTokens: first?.needle?.tokens ?? null,
    own,
    parts,
    signal,
    onProgress: (words) => context.note(printable(words)),
  });
}

/** Null, after a note with the reason, where nothing proves which bytes ran or the home cannot be written. */
async function signed(
  context: CliContext,
  registry: Registry,
  models: Parameters<typeof signCard>[1],
  measured: Parameters<typeof signCard>[2],
): Promise<Card | null> {
  const { home } = context.config();
  const options = { home, version: readVersion(), libraries: librariesFolder(home), registry };
  try {
    const card = await signCard(options, models, measured);
    const file = await keepCard(home, card);
    context.note(printable(`The signed card is kept; check it: hearth evidence verify ${file}`));
    return card;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    context.note(printable(`There is no signed card: ${errorReason(error)}.`));
    return null;
  }
}

/** The flight recorder makes no larger archive. */
const MOST_ARCHIVE_BYTES = 128 * 1024 * 1024;

async function ownRequests(context: CliContext, source: string | true): Promise<OwnRequest[]> {
  const archive =
    source === true
      ? expectOk(await callServer(context.config(), 'GET', routes.requestArchive.path))
      : await readArchive(source);
  const found = readOwnRequests(archive);
  if (found === null) {
    throw new CliFailure(
      `${String(source)} is no archive of requests; make one with: hearth requests --har FILE`,
    );
  }
  if (found.length > 0) return found;
  throw new CliFailure(
    source === true
      ? 'the running service has kept no text of chats; start it with SVC_RECORD=text and chat, or leave --requests out'
      : `${source} has no chat with its text; record some with SVC_RECORD=text, or leave --requests out`,
    EXIT_CODES.notFound,
  );
}

async function readArchive(file: string): Promise<unknown> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    const exitCode = error.code === 'ENOENT' ? EXIT_CODES.notFound : EXIT_CODES.failure;
    throw new CliFailure(`${file} cannot be read: ${error.message}`, exitCode, error);
  });
  if (bytes.length > MOST_ARCHIVE_BYTES) return null;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

type Row = readonly [name: string, value: string];

function linesOf(report: EvalReport): string {
  const { model, verdict, findings, whole, texts, own, cases, needle, speed, against } = report;
  const rows: Row[] = [
    ['model', model],
    ['verdict', verdict],
    ...findings.map((each): Row => ['wrong', each]),
    ...[whole, ...texts, ...(own === null ? [] : [own])].map(
      (figures): Row => [figures.name, textWords(figures)],
    ),
    ...casesRows(cases),
    ...(needle === null ? [] : [needleRow(needle)]),
    [
      'speed',
      `reads ${fixed(speed.read_per_s, 0)} and writes ${fixed(speed.written_per_s, 1)} tokens a second`,
    ],
    ['memory', `${(report.memory_bytes / 1024 ** 2).toFixed(0)} MiB`],
    ...(against === null ? [] : againstRows(against)),
  ];
  return rows.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`).join('\n');
}

function textWords({ tokens, perplexity, bits_per_byte: bits, same_choice: same }: TextFigures): string {
  const choice = same === null ? '' : `, same choice in ${percent(same)}`;
  return `${fixed(bits, 3)} bits per byte, perplexity ${fixed(perplexity, 2)}${choice} (${tokens} tokens)`;
}

function casesRows({ all, passed, left, failed }: EvalReport['cases']): Row[] {
  if (all === 0) return [];
  const untried = left > 0 ? `, ${left} not tried in time` : '';
  return [
    ['cases', `${passed} of ${all - left} calls, JSON and past calls passed${untried}`],
    ...failed.map(({ name, reason }): Row => ['failed', `${name}: ${reason}`]),
  ];
}

function needleRow({ window, tokens, facts, missed }: NonNullable<EvalReport['needle']>): Row {
  const where =
    missed.length === 0 || missed.length === facts
      ? ''
      : `, not those at ${missed.map(percent).join(', ')} of it`;
  const of = tokens < window ? ` of a window of ${window}` : '';
  return ['facts', `recalls ${facts - missed.length} of ${facts} in a text of ${tokens} tokens${of}${where}`];
}

const againstRows = (against: NonNullable<EvalReport['against']>): Row[] => [
  ['against', against.reference],
  [
    'same choice',
    against.tokens === 0
      ? 'no text is split alike'
      : `${percent(against.same_choice ?? 0)} of ${against.tokens} tokens`,
  ],
  ['divergence', `at least ${fixed(against.divergence, 4)} nats per token (KL)`],
  ['loss', `${fixed(against.loss_ratio, 3)} times the bits`],
];

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const fixed = (value: number | null, digits: number): string =>
  value === null ? 'none' : value.toFixed(digits);
