/** hearth eval ID: how well a model predicts text, calls tools and writes JSON, and how far it is from another model. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Card, keepCard, signCard } from '../../../server/api/eval/card.ts';
import { measureModel, type MeasureOptions, recallFacts } from '../../../server/api/eval/measure.ts';
import { type OwnRequests, readOwnRequests } from '../../../server/api/eval/own-requests.ts';
import { Parts } from '../../../server/api/eval/parts.ts';
import { reportOf, setSha256 } from '../../../server/api/eval/report.ts';
import { measureUpstream } from '../../../server/api/eval/measure-upstream.ts';
import { type ReferenceSide, runEval } from '../../../server/api/eval/run-eval.ts';
import { withConnections } from '../../../server/api/remote-models/own-probe.ts';
import { findUpstreamModel, type UpstreamModel } from '../../../server/api/remote-models/upstream-model.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { isSvcError, errorReason } from '../../../lib/errors/svc-error.ts';
import { librariesFolder } from '../../../lib/files/native-library.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import type { ServedManifest } from '../../../store/files/manifest.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';
import { readVersion } from '../../version.ts';
import { evalLines } from '../../words/eval-lines.ts';

/** With the load and the texts, two models stay within five minutes. */
const CASES_WITHIN_MS = 50_000;

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
    .option(
      '--against <model>',
      'compare with this model, such as a larger quant of the same one, or a model of an upstream',
    )
    .option('--texts-only', 'score the nine texts only: no calls, no JSON answers, no long text')
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
  // All that is named is there before the first model is measured.
  const model = await registry.resolve(id, 'chat');
  const other = flags.against === undefined ? null : await findReference(context, registry, flags.against);
  const own = flags.requests === undefined ? NO_REQUESTS : await ownRequests(context, flags.requests);
  const work = { context, registry, own, textsOnly: flags.textsOnly === true, signal };
  const candidate = await openSide(work, model, true);
  const reference = other === null ? null : await openReference(work, model, other);
  const evaluated = await runEval({
    candidate,
    reference: reference?.side ?? null,
    textsOnly: work.textsOnly,
    onFinding: (finding) => context.note(printable(`${model.id} is wrong: ${finding}`)),
  });
  const report = reportOf(evaluated);
  const { host } = evaluated.candidate;
  const card = await signed(context, registry, { model, reference: other }, { host, report });
  if (flags.svg !== undefined) {
    const { evalPlot } = await import('./eval-plot.ts');
    await writeFile(flags.svg, evalPlot(report));
  }
  if (flags.json === true) context.printJson(card ?? report);
  else context.print(evalLines(report));
  await candidate.parts.remove();
  await reference?.parts?.remove();
  if (report.findings.length > 0)
    throw new CliFailure(`${report.model}: ${report.findings[0]}`, EXIT_CODES.failure);
}

async function findReference(
  context: CliContext,
  registry: Registry,
  name: string,
): Promise<ServedManifest | UpstreamModel> {
  const remote = (await registry.has(name))
    ? null
    : await findUpstreamModel(new EngineStore(registry.store), name, context.env);
  return remote ?? registry.resolve(name, 'chat');
}

async function openReference(
  work: Work,
  model: ServedManifest,
  other: ServedManifest | UpstreamModel,
): Promise<{ readonly side: ReferenceSide; readonly parts: Parts | null }> {
  const { context, registry, signal } = work;
  if ('upstream' in other) {
    const onProgress = (words: string): void => context.note(printable(words));
    const measure = () =>
      withConnections(readVersion(), (deps) => measureUpstream({ ...other, deps, signal, onProgress }));
    return { side: { measure, recall: null, compare: null }, parts: null };
  }
  const { parts, measure, recall } = await openSide(work, other, false);
  const compare = {
    differences: () => registry.differences(model, other),
    otherTensors: () => registry.otherTensors(model, other, signal),
  };
  return { side: { measure: () => measure(), recall, compare }, parts };
}

const NO_REQUESTS: OwnRequests = { requests: [], left: 0 };

interface Work {
  readonly context: CliContext;
  readonly registry: Registry;
  readonly own: OwnRequests;
  readonly textsOnly: boolean;
  readonly signal: AbortSignal;
}

/** An installed model in a worker of its own; the calls and JSON answers of the candidate alone count. */
async function openSide(work: Work, model: ServedManifest, isCandidate: boolean) {
  const { context, registry, own, textsOnly, signal } = work;
  const { home, numCtx, numThreads, numParallel } = context.config();
  const companions = await registry.companions(model);
  const target = registry.toTarget(model, { numCtx, numThreads, companions });
  const { revision, defaultCtx } = target;
  const key = [readVersion(), setSha256(), revision, defaultCtx, numParallel, isCandidate, textsOnly];
  const parts = await Parts.open(home, JSON.stringify(key), systemClock.unixMs());
  if (parts.kept > 0)
    context.note(printable(`${model.id}: continuing an interrupted run (${parts.kept} parts are there).`));
  const options = {
    worker: { env: context.env, gpu: 'off' as const, libraries: librariesFolder(home) },
    target,
    slots: numParallel,
    casesWithinMs: isCandidate && !textsOnly ? CASES_WITHIN_MS : null,
    own,
    parts,
    signal,
    onProgress: (words: string) => context.note(printable(words)),
  };
  return {
    parts,
    measure: async (onPredicted?: MeasureOptions['onPredicted']) => {
      context.note(printable(`Loading ${model.id} …`));
      await target.source.verify();
      return measureModel({ ...options, ...(onPredicted === undefined ? {} : { onPredicted }) });
    },
    recall: (tokens: number) => recallFacts(options, tokens),
  };
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

async function ownRequests(context: CliContext, source: string | true): Promise<OwnRequests> {
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
  if (found.requests.length > 0) return found;
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
