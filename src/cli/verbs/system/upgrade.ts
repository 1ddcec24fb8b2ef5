/**
 * hearth upgrade: compares a library, new files of a model, or another Hearth with the present one, and optionally
 * switches to it.
 */
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Recorded } from '../../../server/api/upgrade/recorded.ts';
import type { Side } from '../../../server/api/upgrade/side.ts';
import type { TrialFigures } from '../../../server/api/upgrade/trial.ts';
import { type Judgement, judge, percent } from '../../../server/api/upgrade/verdict.ts';
import { readable } from '../../../lib/base/byte-size.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { builtBins, librariesFolder, ownLibrary, PACKAGED } from '../../../lib/files/native-library.ts';
import type { FormerState } from '../../../store/files/former.ts';
import type { ServedManifest } from '../../../store/files/manifest.ts';
import { sharesFiles, keepState, makeSuccessor, takeFiles } from '../../../store/install/upgrade.ts';
import { listOwn, switchOwn } from '../../../store/libraries/own.ts';
import { withSelected } from '../../../store/libraries/view.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { hashBackend } from '../../../trust/identity/backend.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';
import { interruptible, localRegistry, STARTS_OVER } from '../../local-registry.ts';
import { restartService } from './restart.ts';
import { readVersion } from '../../version.ts';
import { doWork, otherHearth, WORK_OPTION, type Work } from './other-hearth.ts';

const CASES_WITHIN_MS = 50_000;
const WITHIN_S = 300;
const LONGEST_S = 86_400;
const BUSY =
  'Other programs used the processor, so speed was not compared; run this again when the machine is idle.';
const NAME_WIDTH = 14;
const LAST = 20;
const MOST_REPLAYED = 200;
/** Replaces a file name: requests that the running service has recorded. */
const SERVICE = 'service';

interface Flags {
  readonly library?: string;
  readonly to?: string;
  readonly hearth?: string;
  readonly work?: boolean;
  readonly replay?: string;
  readonly last: number;
  readonly within: number;
  readonly textsOnly?: boolean;
  readonly speed: boolean;
  readonly switch?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function registerUpgrade(program: Command, context: CliContext): void {
  program
    .command('upgrade [model]')
    .description(
      'compare another llama.cpp, quant or revision of a model, or version of Hearth with the present one; exit code 1 where the present one should stay',
    )
    .option('--library <name>', `the candidate: a build that hearth library list shows, or "${PACKAGED}"`)
    .addOption(
      new Option(
        '--to <model>',
        'the candidate: an installed model, whose files would take the place of the present ones',
      ).conflicts('library'),
    )
    .addOption(
      new Option(
        '--hearth <folder>',
        'the candidate: another version of Hearth, built; it is compared, and taken by hearth update',
      ).conflicts(['library', 'to', 'switch']),
    )
    .addOption(new Option(WORK_OPTION, 'do what another version asks for').hideHelp())
    .option(
      '--replay <place>',
      `also replay recorded requests: a HAR file, a folder of records with their requests, or "${SERVICE}" for those that the running service has kept`,
    )
    .option('--last <count>', 'how many of them, the latest', readCount, LAST)
    .option(
      '--texts-only',
      'compare the nine texts of hearth eval only: no calls, no JSON answers, no long text',
    )
    .option('--within <seconds>', 'compare what this time allows', readSeconds, WITHIN_S)
    .option('--no-speed', 'leave out the comparison of speed, as on a busy machine')
    .addOption(new Option('--try', 'only compare, which is the default').conflicts(['switch', 'yes']))
    .option(
      '--switch',
      'take the candidate if nothing is worse; hearth rollback brings the former state back',
    )
    .option('-y, --yes', 'with --switch: also where the verdict is to look at it')
    .option('--json', 'one JSON document')
    .action((model: string | undefined, flags: Flags) =>
      interruptible(
        context,
        (signal, hurry) =>
          flags.work === true
            ? workFor(context, model, signal)
            : upgrade(context, model, flags, { signal, hurry }),
        // The other version is interrupted as well, and then has nothing to compare with.
        { again: STARTS_OVER, hasHurry: flags.work !== true && flags.hearth === undefined },
      ),
    );
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > MOST_REPLAYED)
    throw new InvalidArgumentError(`not a number from 1 to ${MOST_REPLAYED}`);
  return count;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= LONGEST_S))
    throw new InvalidArgumentError(`not a number of seconds up to ${LONGEST_S}`);
  return seconds;
}

interface Plan {
  readonly registry: Registry;
  readonly model: ServedManifest;
  readonly libraries: string;
  readonly library: string;
  readonly candidate:
    | { readonly library: string; readonly sha256: string | null }
    | { readonly next: ServedManifest }
    | { readonly folder: string };
}

async function workFor(context: CliContext, name: string | undefined, signal: AbortSignal): Promise<void> {
  const work = (await json(process.stdin)) as Work;
  const { home } = context.config();
  const registry = localRegistry(context.config());
  const model = await registry.resolve(name ?? 'default', 'chat');
  const side = await makeSide(context, registry, {
    name: model.id,
    libraries: librariesFolder(home),
    manifest: model,
  });
  const onProgress = (words: string): void => context.note(printable(words));
  context.write(JSON.stringify(await doWork(side, work, { signal, onProgress })));
}

async function upgrade(
  context: CliContext,
  name: string | undefined,
  flags: Flags,
  ends: { readonly signal: AbortSignal; readonly hurry: AbortSignal },
): Promise<void> {
  // Before this command is itself what keeps the machine busy.
  const isBusy = (loadavg()[0] ?? 0) > availableParallelism() / 2;
  const plan = await makePlan(context, name, flags);
  const recorded = await recordedBy(context, flags);
  const { tryUpgrade } = await import('../../../server/api/upgrade/trial.ts');
  const trial = await withSides(context, plan, ({ present, candidate }) =>
    tryUpgrade({
      present,
      candidate,
      isSameModel: !('next' in plan.candidate),
      requests: recorded.requests,
      casesWithinMs: flags.textsOnly === true ? null : CASES_WITHIN_MS,
      withinMs: flags.within * 1000,
      measuresSpeed: flags.speed && !isBusy,
      ...ends,
      onProgress: (words) => context.note(printable(words)),
    }),
  );
  const figures = 'figures' in trial ? trial.figures : null;
  const judgement = judge(trial);
  const { verdict } = judgement;
  const isTaken =
    flags.switch === true && (verdict === 'switch' || (verdict === 'look' && flags.yes === true));
  if (isTaken) await take(context, plan);
  if (isBusy && flags.speed && figures !== null) context.note(BUSY);
  if (flags.json === true) context.printJson(asDocument(plan, { figures, judgement, isTaken, recorded }));
  else context.print(asLines(plan, { figures, judgement, isTaken, recorded }));
  if (verdict === 'keep' || (flags.switch === true && !isTaken)) context.setExitCode(EXIT_CODES.failure);
}

async function makePlan(context: CliContext, name: string | undefined, flags: Flags): Promise<Plan> {
  const config = context.config();
  const registry = localRegistry(config);
  const libraries = librariesFolder(config.home);
  const model = await registry.resolve(name ?? 'default', 'chat');
  const present = await presentLibrary(libraries);
  const plan = { registry, model, libraries, library: present };
  if (flags.to !== undefined) {
    const next = await registry.resolve(flags.to, 'chat');
    if (next.id === model.id) throw usage(`${model.id} is the model itself; name the other one with --to`);
    if (sharesFiles(model, next)) throw usage(`${model.id} has the files of ${next.id} already`);
    return { ...plan, candidate: { next } };
  }
  if (flags.hearth !== undefined) return { ...plan, candidate: { folder: path.resolve(flags.hearth) } };
  const names = [PACKAGED, ...(await listOwn(libraries)).map((build) => build.name)];
  const { library } = flags;
  if (library === undefined) throw usage(nothingNamed(names.filter((each) => each !== present)));
  if (!names.includes(library))
    throw fail('own_library_unknown', { name: library, names: names.join(', '), param: 'name' });
  if (library === present) throw usage(`${library} is in use already`);
  return { ...plan, candidate: { library, sha256: await hashBuild(libraries, library) } };
}

function nothingNamed(builds: readonly string[]): string {
  const kept = builds.length === 0 ? 'NAME' : builds.join(' or ');
  return `name the candidate: --library ${kept} (hearth library build --no-switch makes one), --to MODEL, or --hearth FOLDER`;
}

const usage = (message: string): CliFailure => new CliFailure(message, EXIT_CODES.usage);

async function presentLibrary(libraries: string): Promise<string> {
  if (ownLibrary(libraries) === null) return PACKAGED;
  return (await listOwn(libraries)).find(({ isSelected }) => isSelected)?.name ?? PACKAGED;
}

async function recordedBy(context: CliContext, { replay, last }: Flags): Promise<Recorded> {
  if (replay === undefined) return { requests: [], left: 0 };
  const { fromArchive, readRecorded } = await import('../../../server/api/upgrade/recorded.ts');
  if (replay !== SERVICE) return readRecorded(replay, last);
  const archive = expectOk(await callServer(context.config(), 'GET', routes.requestArchive.path));
  return fromArchive(archive, last);
}

type Sides = { readonly present: Side; readonly candidate: Side };

interface SideFacts {
  readonly name: string;
  readonly libraries: string;
  readonly manifest: ServedManifest;
}

async function makeSide(
  context: CliContext,
  registry: Registry,
  { name, libraries, manifest }: SideFacts,
): Promise<Side> {
  const { gpu, numCtx, numThreads } = context.config();
  const { localSide } = await import('../../../server/api/upgrade/side.ts');
  const companions = await registry.companions(manifest);
  const target = registry.toTarget(manifest, { numCtx, numThreads, companions });
  await target.source.verify();
  return localSide({ name, target, worker: { env: context.env, gpu, libraries } });
}

async function withSides<T>(context: CliContext, plan: Plan, use: (sides: Sides) => Promise<T>): Promise<T> {
  const { registry, model, libraries, library, candidate } = plan;
  const side = (name: string, from: string, manifest: ServedManifest): Promise<Side> =>
    makeSide(context, registry, { name, libraries: from, manifest });
  if ('folder' in candidate) {
    const { home } = context.config();
    const other = otherHearth({ folder: candidate.folder, home, model: model.id });
    return use({ present: await side(model.id, libraries, model), candidate: other });
  }
  if ('next' in candidate) {
    const { next } = candidate;
    // Keeps its own id, because it is measured before it replaces the model.
    const successor = { ...makeSuccessor(model, next), id: next.id };
    const present = await side(model.id, libraries, model);
    return use({ present, candidate: await side(next.id, libraries, successor) });
  }
  const wanted = candidate.library === PACKAGED ? null : candidate.library;
  return withSelected(libraries, wanted, async (view) => {
    if (wanted !== null && ownLibrary(view) === null)
      throw usage(`this version of Hearth cannot call ${wanted}; hearth library list shows its release`);
    const present = await side(`llama.cpp (${library})`, libraries, model);
    return use({ present, candidate: await side(`llama.cpp (${candidate.library})`, view, model) });
  });
}

async function take(context: CliContext, plan: Plan): Promise<void> {
  const { registry, model, libraries, candidate } = plan;
  const present = {
    at: new Date().toISOString(),
    change: describeChange(plan),
    library: await libraryState(libraries),
  };
  if ('folder' in candidate) return;
  if ('next' in candidate) return takeFiles(registry, { model, next: candidate.next }, present);
  if ((await hashBuild(libraries, candidate.library)) !== candidate.sha256) {
    throw new CliFailure(
      `the build ${candidate.library} was replaced while it was compared; run the command again`,
    );
  }
  await keepState(registry, model.id, present);
  await switchOwn(libraries, candidate.library);
  await restartService(context, { done: 'the library is switched', old: 'the former library' });
}

/** Includes the hash, because a build of the same name may replace it. */
export async function libraryState(libraries: string): Promise<FormerState['library']> {
  const name = await presentLibrary(libraries);
  return { name: name === PACKAGED ? null : name, sha256: await hashBuild(libraries, name) };
}

export async function hashBuild(libraries: string, name: string): Promise<string | null> {
  return name === PACKAGED ? null : ((await hashBackend(builtBins(libraries, name)))?.sha256 ?? null);
}

function describeChange(plan: Plan): string {
  const { present, candidate } = nameSides(plan);
  return 'next' in plan.candidate
    ? `${present} with the files of ${candidate}`
    : 'folder' in plan.candidate
      ? `Hearth in ${candidate} in place of ${present}`
      : `llama.cpp ${candidate} in place of ${present}`;
}

function nameSides({ model, library, candidate }: Plan): {
  readonly present: string;
  readonly candidate: string;
} {
  if ('next' in candidate) return { present: model.id, candidate: candidate.next.id };
  if ('folder' in candidate) return { present: `Hearth ${readVersion()}`, candidate: candidate.folder };
  return { present: library, candidate: candidate.library };
}

interface Result {
  readonly figures: TrialFigures | null;
  readonly judgement: Judgement;
  readonly isTaken: boolean;
  readonly recorded: Recorded;
}

function asDocument(plan: Plan, { figures, judgement, isTaken, recorded }: Result) {
  return {
    object: 'svc.upgrade' as const,
    model: plan.model.id,
    ...nameSides(plan),
    ...judgement,
    switched: isTaken,
    left_out: recorded.left,
    figures,
  };
}

const WORDS = {
  switch: 'switch: nothing is worse',
  look: 'look: decide by the figures',
  keep: 'keep the present one',
} as const;

function asLines(plan: Plan, result: Result): string {
  const { figures, judgement, isTaken, recorded } = result;
  const rows: (readonly [string, string])[] = [
    ['upgrade', describeChange(plan)],
    ...(figures === null ? [] : figureRows(figures, recorded)),
    ['verdict', isTaken ? `${WORDS[judgement.verdict]}; it is in use from now on` : WORDS[judgement.verdict]],
    ...judgement.reasons.map((reason) => ['because', reason] as const),
    ...nextRows(plan, result),
  ];
  return rows.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${printable(value)}`).join('\n');
}

function figureRows(
  { texts, cases, requests, speedRatio, memory }: TrialFigures,
  { left }: Recorded,
): (readonly [string, string])[] {
  const leftOut = left === 0 ? '' : `; ${left} left out, which are no chat or have no text`;
  return [
    ['answers', likenessWords(texts)],
    ...(cases.tried === 0
      ? []
      : [['calls, JSON', `${cases.passed} of ${cases.tried} valid, before ${cases.passedBefore}`] as const]),
    ...(requests === null
      ? []
      : [
          [
            'requests',
            `${requests.valid} of ${requests.replayed} valid, before ${requests.validBefore}; ${requests.same} answers word for word the same${leftOut}`,
          ] as const,
          ['', likenessWords(requests.distance)] as const,
        ]),
    ['speed', speedRatio === null ? 'not measured' : `${speedRatio.toFixed(2)} times as fast`],
    [
      'memory',
      `${readable(memory.candidate)}, ${(memory.candidate / memory.present).toFixed(2)} times the present one`,
    ],
  ];
}

const likenessWords = ({ tokens, sameChoice, divergence, lossRatio }: TrialFigures['texts']): string =>
  tokens === 0
    ? `no text is split alike; ${lossRatio.toFixed(2)} times the bits`
    : `the same next token in ${percent(sameChoice)} of ${tokens}, divergence ${divergence.toFixed(4)} nats, ${lossRatio.toFixed(3)} times the bits`;

function nextRows(
  { model, candidate }: Plan,
  { judgement: { verdict }, isTaken }: Result,
): (readonly [string, string])[] {
  if (isTaken) return [['undo', 'hearth rollback']];
  if (verdict === 'keep') return [];
  if ('folder' in candidate) return [['take it', 'hearth update']];
  const how =
    'next' in candidate ? `${model.id} --to ${candidate.next.id}` : `--library ${candidate.library}`;
  return [['take it', `hearth upgrade ${how} --switch${verdict === 'look' ? ' --yes' : ''}`]];
}
