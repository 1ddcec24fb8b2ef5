import { availableParallelism, freemem } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readable } from '../../../lib/base/byte-size.ts';
import {
  librariesFolder,
  type LibraryFiles,
  ownLibrary,
  packagedLibrary,
} from '../../../lib/files/native-library.ts';
import { askDevices } from '../../../server/api/own-worker.ts';
import { mediaOptions } from '../../../store/libraries/build/media.ts';
import { installMedia } from '../../../store/libraries/media.ts';
import type { Built, BuildRequest } from '../../../store/libraries/build/build.ts';
import {
  BUILD_GPUS,
  type BuildChoice,
  type BuildGpu,
  buildName,
  cmakeOptions,
  defaultJobs,
  buildTargets,
} from '../../../store/libraries/build/options.ts';
import { COMPILERS, type CompilerChoice, type Found } from '../../../store/libraries/build/toolchain.ts';
import { PYPI_FILES } from '../../../store/libraries/pinned-file.ts';
import { installOwn, type Measured } from '../../../store/libraries/own.ts';
import { type BuildProgress, showBuild } from '../../build-progress.ts';
import { shippedChatModel } from '../../builtin-models.ts';
import { type CliContext, printable, saysJson } from '../../context.ts';
import { showProgress } from '../../install-progress.ts';
import { interruptible } from '../../local-registry.ts';
import { packageSource } from '../../package-source.ts';
import { refuseIfSealed } from '../choose/hub-options.ts';
import { installation, laterWords, untestedNote } from './installation.ts';
import { findTools, workFolder } from './tools.ts';

interface Flags {
  readonly gpu: BuildGpu;
  readonly media?: boolean;
  readonly compiler: CompilerChoice;
  readonly release?: string;
  readonly source?: string;
  readonly repository?: string;
  readonly jobs?: number;
  readonly name?: string;
  readonly keep?: boolean;
  readonly switch: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function registerBuild(library: Command, context: CliContext): void {
  library
    .command('build')
    .description('compile llama.cpp for this machine, and use it if it is faster')
    .addOption(new Option('--gpu <kind>', 'also for GPUs').choices(BUILD_GPUS).default('none'))
    .option('--media', 'only what reads images and audio (libmtmd), for the library in use; with --gpu, both')
    .addOption(
      new Option('--compiler <name>', 'zig: fetch a compiler, and CMake and Ninja if missing')
        .choices(COMPILERS)
        .default('auto'),
    )
    .option('--release <tag>', 'another release of llama.cpp, fetched by git')
    .option('--source <folder>', 'a checkout of llama.cpp')
    .option('--repository <url>', 'where git fetches the release')
    .option('--jobs <count>', 'compilations at a time', readCount)
    .option('--name <name>', 'what to keep it under; by default release and GPU')
    .option('--no-switch', 'only keep the build, for hearth upgrade')
    .option('--keep', 'keep the source and the objects afterwards')
    .option('--dry-run', 'show what would be done')
    .option('--json', 'progress as JSON lines')
    .action((flags: Flags, command: Command) => build(context, { ...flags, json: saysJson(command) }));
}

async function build(context: CliContext, flags: Flags): Promise<void> {
  const { sourceChoice, describeSource } = await import('../../../store/libraries/build/source.ts');
  const source = sourceChoice(flags);
  const found = await findTools(context, flags.compiler, flags.gpu);
  const choice = { gpu: flags.gpu, media: flags.media === true };
  const against = linkedLibrary(context, choice);
  const jobs = flags.jobs ?? defaultJobs(availableParallelism(), process.availableMemory?.() ?? freemem());
  const plan = {
    source: describeSource(source),
    compiler: found.toolchain.compiler,
    cmake: found.toolchain.cmake.version,
    generator: found.toolchain.ninja === null ? "CMake's default" : 'Ninja',
    fetches: found.missing.map(({ label, url, downloadBytes }) => ({ label, url, bytes: downloadBytes })),
    options:
      against === null
        ? cmakeOptions(choice, process.platform)
        : mediaOptions(against, {
            source: describeSource(source),
            output: 'bin',
            platform: process.platform,
          }),
    targets: against === null ? buildTargets(choice) : ['mtmd'],
    jobs,
    work: workFolder(context),
  };
  if (flags.dryRun === true)
    return flags.json === true ? context.printJson(plan) : describePlan(context, plan);
  // It downloads and compiles foreign code.
  refuseIfSealed(context);
  const shown = showBuild(context, flags.json === true);
  const transfers = showProgress(context, flags.json === true);
  shown.onEvent({ status: 'looking', compiler: plan.compiler, cmake: plan.cmake, generator: plan.generator });
  await interruptible(context, async (signal) => {
    const watched = { onEvent: transfers.onEvent, signal };
    try {
      const { buildLibrary } = await import('../../../store/libraries/build/build.ts');
      const request: BuildRequest = {
        ...choice,
        ...(against !== null && { against }),
        work: plan.work,
        source,
        found: await refound(context, flags, found),
        jobs,
        platform: process.platform,
        signal,
        onEvent: (event) => {
          transfers.end();
          shown.onEvent(event);
        },
        registry: () => packageSource(context, watched),
        toolsHost: () => packageSource(context, watched, PYPI_FILES),
        nowMs: () => performance.now(),
        env: context.env,
      };
      const built = await buildLibrary(request);
      if (against === null) {
        await install(context, {
          built,
          name: flags.name ?? buildName(built.release, choice),
          isForLater: !flags.switch,
          shown,
        });
      } else {
        await installMediaBuild(context, { built, against, shown });
      }
      if (flags.keep !== true) await built.clear();
    } finally {
      transfers.end();
      shown.end();
    }
  });
}

/** Another run may have fetched the tools meanwhile. */
const refound = (context: CliContext, flags: Flags, found: Found): Promise<Found> =>
  found.missing.length === 0 ? Promise.resolve(found) : findTools(context, flags.compiler, flags.gpu);

/** Null: builds llama.cpp itself. Windows links against import libraries, which packages do not contain. */
function linkedLibrary(context: CliContext, { gpu, media }: BuildChoice): LibraryFiles | null {
  if (!media || gpu !== 'none' || process.platform === 'win32') return null;
  const libraries = librariesFolder(context.config().home);
  return ownLibrary(libraries) ?? packagedLibrary(libraries);
}

async function installMediaBuild(
  context: CliContext,
  {
    built,
    against,
    shown,
  }: { readonly built: Built; readonly against: LibraryFiles; readonly shown: BuildProgress },
): Promise<void> {
  const { gpu, home } = context.config();
  const libraries = librariesFolder(home);
  shown.onEvent({ status: 'trying' });
  const file = await installMedia({
    libraries,
    against,
    from: built.folder,
    tryOut: async () => (await askDevices({ env: context.env, gpu, libraries })).media === true,
  });
  shown.end();
  context.note(
    printable(
      `libmtmd of llama.cpp ${built.release} was built in ${built.made.seconds} s: ${file}. Models with a projector read images or audio from now on; if the service runs, restart it.`,
    ),
  );
}

interface Finished {
  readonly built: Built;
  readonly name: string;
  readonly isForLater: boolean;
  readonly shown: BuildProgress;
}

async function install(context: CliContext, { built, name, isForLater, shown }: Finished): Promise<void> {
  const { gpu, home } = context.config();
  const usual = installation(context);
  const model = shippedChatModel();
  const result = await installOwn({
    ...usual,
    from: built.folder,
    name,
    agreement: built.agreement,
    made: built.made,
    isForLater,
    tryOut: (libraries) => {
      shown.onEvent({ status: 'trying' });
      return usual.tryOut(libraries);
    },
    measure: async (libraries): Promise<Measured | null> => {
      shown.onEvent({ status: 'measuring' });
      const { compareLibraries } = await import('../../../server/api/probe/compare-libraries.ts');
      const settings = { env: context.env, gpu };
      const present = { ...settings, libraries: librariesFolder(home) };
      const measured = await compareLibraries({ ...settings, libraries }, present, model);
      return measured === null ? null : { model: model.id, ...measured };
    },
  });
  shown.end();
  context.note(
    printable(
      `llama.cpp ${result.facts.release} was built in ${built.made.seconds} s and is kept as ${name}.`,
    ),
  );
  const { measured, isSelected } = result;
  context.note(isForLater ? laterWords(name) : outcome(measured, { name, isSelected }));
  untestedNote(context, result.facts.release);
}

function outcome(
  measured: Measured | null,
  { name, isSelected }: { readonly name: string; readonly isSelected: boolean },
): string {
  const next = 'If the service runs, it takes the build after a restart. To go back: hearth library switch';
  if (measured === null) return `It is in use from now on. ${next}`;
  const figures = `${measured.build} ms for a prompt and 32 tokens of ${measured.model}, ${measured.present} ms with the library in use before`;
  return isSelected
    ? `It takes ${figures}: it is in use from now on. ${next}`
    : `It takes ${figures}, so that one stays in use. To use the build all the same: hearth library switch ${name}`;
}

interface Plan {
  readonly source: string;
  readonly compiler: string;
  readonly cmake: string;
  readonly generator: string;
  readonly fetches: readonly { readonly label: string; readonly url: string; readonly bytes: number }[];
  readonly options: readonly string[];
  readonly targets: readonly string[];
  readonly jobs: number;
  readonly work: string;
}

function describePlan(context: CliContext, plan: Plan): void {
  const lines = [
    `source    ${plan.source}`,
    `compiler  ${plan.compiler}`,
    `CMake     ${plan.cmake}, ${plan.generator}`,
    ...plan.fetches.map(({ label, url, bytes }) => `fetch     ${label}, ${readable(bytes)}, ${url}`),
    `options   ${plan.options.join(' ')}`,
    `targets   ${plan.targets.join(' ')}, ${plan.jobs} at a time`,
    `folder    ${plan.work}`,
  ];
  for (const line of lines) context.print(printable(line));
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1024)
    throw new InvalidArgumentError('not a number from 1 to 1024');
  return count;
}
