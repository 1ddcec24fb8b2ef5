/**
 * cli/verbs/library owns the verbs about the llama.cpp in use: its facts, the user's own builds, and making them. It
 * knows nothing of models that are installed. This file: hearth library, use, list, switch and remove.
 */
import type { Command } from 'commander';
import { askDevices } from '../../../server/api/own-worker.ts';
import type { BackendFacts } from '../../../contract/load.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import {
  librariesFolder,
  LLAMA_CPP_RELEASE,
  ownLibrary,
  PACKAGED,
} from '../../../lib/files/native-library.ts';
import {
  installOwn,
  type KeptBuild,
  listOwn,
  libraryHint,
  removeOwn,
  switchOwn,
} from '../../../store/libraries/own.ts';
import { hashBackend } from '../../../trust/identity/backend.ts';
import { type CliContext, EXIT_CODES, printable, saysJson } from '../../context.ts';
import { interruptible } from '../../local-registry.ts';
import { registerBuild } from './build.ts';
import { installation, laterWords, untestedNote } from './installation.ts';

const OWN = 'own';

export function registerLibrary(program: Command, context: CliContext): void {
  const library = program
    .command('library')
    .description('show which llama.cpp library models run on')
    .option('--json', 'one JSON document')
    .action((flags: { json?: boolean }) => show(context, flags.json === true));
  registerBuild(library, context);
  library
    .command('use <folder>')
    .description('run models on your own build of llama.cpp, which is copied')
    .option('--name <name>', 'what to keep it under', OWN)
    .option('--no-switch', 'only keep it, for hearth upgrade')
    .action((folder: string, flags: UseFlags) => use(context, folder, flags));
  library
    .command('list')
    .alias('ls')
    .description('list the builds that are kept')
    .option('--json', 'one JSON document')
    .action((_flags: unknown, command: Command) => list(context, saysJson(command)));
  library
    .command('switch [name]')
    .description(`use a build that is kept, or "${PACKAGED}"; without a name the one before`)
    .action((name: string | undefined) => change(context, name));
  library
    .command('remove [name]')
    .description('delete the copy of a build; without a name the one in use')
    .action((name: string | undefined) => remove(context, name));
}

async function show(context: CliContext, json: boolean): Promise<void> {
  const { gpu, home } = context.config();
  const libraries = librariesFolder(home);
  const isOwn = ownLibrary(libraries) !== null;
  const build = isOwn ? ((await listOwn(libraries)).find(({ isSelected }) => isSelected) ?? null) : null;
  const facts = await askDevices({ env: context.env, gpu, libraries }).catch((error: unknown) => {
    if (!isFailure(error, 'native_unavailable')) throw error;
    context.setExitCode(EXIT_CODES.failure);
    return { failed: error.detail.reason };
  });
  const isBound = !('failed' in facts);
  const sha256 = isBound ? ((await hashBackend(facts.folder))?.sha256 ?? null) : null;
  const shown = {
    own: isOwn,
    name: build?.name ?? PACKAGED,
    release: build?.facts?.release ?? LLAMA_CPP_RELEASE,
    tested: build?.isTested ?? true,
    from: build?.note?.from ?? null,
    copiedAt: build?.note?.copiedAt ?? null,
    made: build?.note?.made ?? null,
    measured: build?.note?.measured ?? null,
    notice: libraryHint(libraries),
    sha256,
  };
  if (json) return context.printJson({ ...shown, ...(isBound ? boundFacts(facts) : facts) });
  context.print(
    printable(isOwn ? describeOwn(build) : `llama.cpp ${LLAMA_CPP_RELEASE}, as it comes with Hearth`),
  );
  if (isBound) for (const line of describeBound(facts, sha256)) context.print(printable(line));
  else context.note(printable(`It cannot be used: ${facts.failed}; hearth doctor says what helps.`));
  for (const line of describeMaking(build)) context.print(printable(line));
  if (!isOwn) context.print('your own build: hearth library build, or hearth library use FOLDER');
  if (shown.notice !== null) context.note(shown.notice);
}

const boundFacts = ({ folder, devices = [], systemInfo }: BackendFacts) => ({ folder, devices, systemInfo });

function describeBound({ folder, devices = [], systemInfo }: BackendFacts, sha256: string | null): string[] {
  return [
    `folder   ${folder}`,
    `sha256   ${sha256 ?? 'unknown'}`,
    ...devices.map(({ name, description }) => `device   ${name}, ${description}`),
    `features ${cpuFeatures(systemInfo)}`,
  ];
}

function describeOwn(build: KeptBuild | null): string {
  const release = build?.facts?.release ?? LLAMA_CPP_RELEASE;
  const words = `llama.cpp ${release}, your own build${build === null || build.isTested ? '' : ' (untested by Hearth)'}`;
  return build?.note == null
    ? words
    : `${words}: copied from ${build.note.from} on ${build.note.copiedAt.slice(0, 10)}`;
}

function describeMaking(build: KeptBuild | null): string[] {
  const { made, measured } = build?.note ?? {};
  return [
    ...(made === undefined
      ? []
      : [`source   ${made.source}`, `compiler ${made.compiler}, in ${made.seconds} s`]),
    ...(measured === undefined
      ? []
      : [`measured ${measured.build} ms against ${measured.present} ms of the library before it`]),
  ];
}

/** Parses `CPU : AVX2 = 1 | FMA = 0 | …`; these features the processor has and the build uses. */
function cpuFeatures(systemInfo: string): string {
  const names = [...systemInfo.matchAll(/(\w+) = 1\b/g)].map(([, name = '']) => name);
  return names.length === 0 ? 'none' : names.join(' ');
}

const RESTART =
  'If the service runs, restart it: until then it loads no further model, because its library has changed.';
const AT_RESTART = 'If the service runs, it takes the change after a restart.';

interface UseFlags {
  readonly name: string;
  readonly switch: boolean;
}

async function use(
  context: CliContext,
  folder: string,
  { name, switch: isToBeUsed }: UseFlags,
): Promise<void> {
  await interruptible(context, async (signal) => {
    const { compareFolder } = await import('./tools.ts');
    const agreement = await compareFolder(context, folder, signal);
    const { from, change, facts } = await installOwn({
      ...installation(context),
      from: folder,
      name,
      agreement,
      isForLater: !isToBeUsed,
    });
    if (!isToBeUsed) return context.note(printable(`${from}: It was tried and copied. ${laterWords(name)}`));
    const notes = {
      new: 'It was tried and copied. If the service runs, it takes the copy after a restart.',
      replaced: `It was tried, and copied over the one before. ${RESTART}`,
      same: 'It is in use already; nothing was changed.',
    };
    context.note(`${printable(from)}: ${notes[change]}`);
    untestedNote(context, facts.release);
  });
}

async function list(context: CliContext, json: boolean): Promise<void> {
  const libraries = librariesFolder(context.config().home);
  const builds = await listOwn(libraries);
  const isPackage = ownLibrary(libraries) === null;
  if (json) {
    const rows = builds.map(({ name, facts, isSelected, isTested, note }) => ({
      name,
      release: facts?.release ?? null,
      tested: isTested,
      selected: isSelected && !isPackage,
      from: note?.from ?? null,
      copiedAt: note?.copiedAt ?? null,
      made: note?.made ?? null,
      measured: note?.measured ?? null,
    }));
    return context.printJson({
      builds: [{ name: PACKAGED, release: LLAMA_CPP_RELEASE, tested: true, selected: isPackage }, ...rows],
    });
  }
  context.print(
    `${isPackage ? '*' : ' '} ${PACKAGED}  llama.cpp ${LLAMA_CPP_RELEASE}, as it comes with Hearth`,
  );
  for (const build of builds) {
    const mark = build.isSelected && !isPackage ? '*' : ' ';
    context.print(printable(`${mark} ${build.name}  ${describeOwn(build)}`));
  }
}

async function change(context: CliContext, name: string | undefined): Promise<void> {
  const libraries = librariesFolder(context.config().home);
  const before = ownLibrary(libraries);
  const selected = await switchOwn(libraries, name ?? null);
  const isSame = ownLibrary(libraries) === before;
  context.note(
    printable(
      `Models run on ${selected === PACKAGED ? 'the library that comes with Hearth' : selected}. ${isSame ? 'Nothing was changed.' : AT_RESTART}`,
    ),
  );
}

async function remove(context: CliContext, name: string | undefined): Promise<void> {
  const wasThere = await removeOwn(librariesFolder(context.config().home), name ?? null);
  context.note(
    wasThere ? `The copy of your own build is removed. ${RESTART}` : 'No build of your own is in use.',
  );
}
