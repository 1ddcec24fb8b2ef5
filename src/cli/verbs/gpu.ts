import { type Command, InvalidArgumentError, Option } from 'commander';
import { askDevices } from '../../server/api/own-worker.ts';
import { type GpuSupport, isFetched } from '../../contract/load.ts';
import { readable } from '../../lib/base/byte-size.ts';
import { librariesFolder, ownLibrary } from '../../lib/files/native-library.ts';
import { installLibrary, installRuntime, libraryFor, removeLibrary } from '../../store/libraries/install.ts';
import {
  describeTrial,
  forgetGpuTrial,
  readGpuTrial,
  writeGpuTrial,
} from '../../store/libraries/gpu-trial.ts';
import { GPU_KINDS, type GpuLibraryKind } from '../../store/libraries/packages.ts';
import { PYPI_FILES } from '../../store/libraries/pinned-file.ts';
import { type CliContext, printable, saysJson } from '../context.ts';
import { refuseIfSealed } from './choose/hub-options.ts';
import { showProgress } from '../install-progress.ts';
import { interruptible } from '../local-registry.ts';
import { packageSource } from '../package-source.ts';

const PLATFORM = `${process.platform}-${process.arch}`;

export function registerGpu(program: Command, context: CliContext): void {
  const gpu = program
    .command('gpu')
    .description('show the GPUs of this machine, and what it would take to use them')
    .option('--json', 'one JSON document')
    .action((flags: { json?: boolean }) => show(context, flags.json === true));
  gpu
    .command('install')
    .argument('<kind>', GPU_KINDS.join(' or '), readKind)
    .description('fetch the library that uses GPUs of a kind')
    .addOption(
      new Option(
        '--runtime <version>',
        "CUDA's runtime and cuBLAS: if the machine lacks them, or of a version",
      )
        .choices(['auto', 'none', '12', '13'])
        .default('auto'),
    )
    .option('--json', 'progress as JSON lines')
    .action((kind: GpuLibraryKind, { runtime }: { runtime: string }, command: Command) =>
      install(context, { kind, runtime, json: saysJson(command) }),
    );
  gpu
    .command('remove')
    .argument('<kind>', GPU_KINDS.join(' or '), readKind)
    .description('delete a library that was fetched')
    .action((kind: GpuLibraryKind) => remove(context, kind));
}

/** Always detects as with `auto`, because the setting may be the problem. */
async function show(context: CliContext, json: boolean): Promise<void> {
  const { gpu: setting, home } = context.config();
  const facts = await askDevices({ env: context.env, gpu: 'auto', libraries: librariesFolder(home) });
  const devices = (facts.devices ?? []).filter(({ kind }) => kind !== 'cpu');
  const support = facts.gpuSupport ?? [];
  const isOwn = ownLibrary(librariesFolder(home)) !== null;
  const trial = await readGpuTrial(librariesFolder(home));
  if (json) return context.printJson({ setting, own: isOwn, folder: facts.folder, devices, support, trial });
  for (const { name, description, totalBytes } of devices)
    context.print(printable(`${name}  ${description}, ${readable(totalBytes)}`));
  const demandsGpu = setting !== 'auto' && setting !== 'off';
  if (devices.length === 0)
    context.print(`No GPU can be used${demandsGpu ? '' : '; models run on the processor'}.`);
  if (devices.length === 0 && demandsGpu)
    context.print(`SVC_GPU is ${setting}, so no model can run; set it to auto or off.`);
  else if (setting !== 'auto') context.print(`SVC_GPU is ${setting}.`);
  if (isOwn)
    context.print('Models run on your own build of llama.cpp (hearth library), in place of every package.');
  for (const row of support) context.print(describe(row));
  if (trial !== null) context.print(printable(describeTrial(trial)));
}

function describe(support: GpuSupport): string {
  const { kind, installed, missing } = support;
  const state = `${kind}: the library is ${installed ? 'installed' : 'not installed'}`;
  if (missing.length > 0) return `${state}; this machine lacks ${missing.join(', ')}`;
  if (isFetched(support)) return state;
  const rest = installed ? ", but CUDA's runtime is not" : '';
  return `${state}${rest}; to use it: hearth gpu install ${kind}`;
}

interface Wanted {
  readonly kind: GpuLibraryKind;
  readonly runtime: string;
  readonly json: boolean;
}

async function install(context: CliContext, { kind, runtime: wanted, json }: Wanted): Promise<void> {
  refuseIfSealed(context);
  const libraries = librariesFolder(context.config().home);
  const library = libraryFor(kind, PLATFORM);
  const shown = showProgress(context, json);
  await interruptible(context, async (signal) => {
    try {
      const watched = { onEvent: shown.onEvent, signal };
      const target = { folder: libraries, library };
      const isNew = await installLibrary({ ...target, ...(await packageSource(context, watched)) });
      const version = wanted === 'auto' ? await lackingRuntime(context, kind) : Number(wanted);
      const runtime = library.runtimes?.find((each) => each.version === version);
      const hasNew =
        runtime !== undefined &&
        (await installRuntime(
          { ...target, ...(await packageSource(context, watched, PYPI_FILES)) },
          runtime,
        ));
      await forgetGpuTrial(libraries);
      shown.end();
      const next = 'A server that runs takes it after a restart: hearth serve';
      if (isNew) context.note(`The ${kind} library is installed. ${next}`);
      else if (!hasNew) context.note(`The ${kind} library was installed before.`);
      if (hasNew) context.note(`CUDA's runtime ${runtime.version} is installed, under NVIDIA's licence.`);
    } finally {
      shown.end();
    }
  });
}

async function lackingRuntime(context: CliContext, kind: GpuLibraryKind): Promise<number | null> {
  const libraries = librariesFolder(context.config().home);
  const { gpuSupport = [] } = await askDevices({ env: context.env, gpu: 'off', libraries });
  return gpuSupport.find((support) => support.kind === kind)?.runtime ?? null;
}

async function remove(context: CliContext, kind: GpuLibraryKind): Promise<void> {
  const libraries = librariesFolder(context.config().home);
  const wasThere = await removeLibrary(libraries, libraryFor(kind, PLATFORM));
  // Otherwise the service would fetch it again.
  if (kind === 'vulkan') await writeGpuTrial(libraries, { outcome: 'removed', at: new Date().toISOString() });
  context.note(
    `The ${kind} library ${wasThere ? 'is removed. Restart a server that runs.' : 'was not installed by hearth.'}`,
  );
}

function readKind(text: string): GpuLibraryKind {
  const kind = GPU_KINDS.find((name) => name === text);
  if (kind === undefined) throw new InvalidArgumentError(`not one of ${GPU_KINDS.join(', ')}`);
  return kind;
}
