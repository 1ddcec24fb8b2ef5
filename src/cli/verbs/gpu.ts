/** hearth gpu: what GPUs this machine has, and the libraries that use them. */
import { type Command, InvalidArgumentError } from 'commander';
import { askDevices } from '../../api/own-worker.ts';
import { readable } from '../../lib/base/byte-size.ts';
import { librariesFolder, ownLibrary } from '../../lib/files/native-library.ts';
import { installLibrary, libraryFor, removeLibrary } from '../../store/libraries/install.ts';
import {
  describeTrial,
  forgetGpuTrial,
  readGpuTrial,
  writeGpuTrial,
} from '../../store/libraries/gpu-trial.ts';
import { GPU_KINDS, type GpuLibraryKind } from '../../store/libraries/packages.ts';
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
    .argument('<kind>', GPU_KINDS.join(' or '), kindOf)
    .description('fetch the library that uses GPUs of a kind')
    .option('--json', 'progress as JSON lines')
    .action((kind: GpuLibraryKind, _flags: unknown, command: Command) =>
      install(context, kind, saysJson(command)),
    );
  gpu
    .command('remove')
    .argument('<kind>', GPU_KINDS.join(' or '), kindOf)
    .description('delete a library that was fetched')
    .action((kind: GpuLibraryKind) => remove(context, kind));
}

/** As `auto` would find it, whatever the setting is: that one may be what needs to be changed. */
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

type Support = NonNullable<Awaited<ReturnType<typeof askDevices>>['gpuSupport']>[number];

function describe({ kind, installed, missing }: Support): string {
  const state = `${kind}: the library is ${installed ? 'installed' : 'not installed'}`;
  if (missing.length > 0) return `${state}; this machine lacks ${missing.join(', ')}`;
  return installed ? state : `${state}; to use it: hearth gpu install ${kind}`;
}

async function install(context: CliContext, kind: GpuLibraryKind, json: boolean): Promise<void> {
  refuseIfSealed(context);
  const { home } = context.config();
  const library = libraryFor(kind, PLATFORM);
  const shown = showProgress(context, json);
  await interruptible(context, async (signal) => {
    try {
      const isNew = await installLibrary({
        folder: librariesFolder(home),
        library,
        ...(await packageSource(context, { onEvent: shown.onEvent, signal })),
      });
      await forgetGpuTrial(librariesFolder(home));
      shown.end();
      const next = 'A server that runs takes it after a restart: hearth serve';
      context.note(
        isNew ? `The ${kind} library is installed. ${next}` : `The ${kind} library was installed before.`,
      );
    } finally {
      shown.end();
    }
  });
}

async function remove(context: CliContext, kind: GpuLibraryKind): Promise<void> {
  const libraries = librariesFolder(context.config().home);
  const wasThere = await removeLibrary(libraries, libraryFor(kind, PLATFORM));
  // Else the service would fetch it again by itself.
  if (kind === 'vulkan') await writeGpuTrial(libraries, { outcome: 'removed', at: new Date().toISOString() });
  context.note(
    `The ${kind} library ${wasThere ? 'is removed. Restart a server that runs.' : 'was not installed by hearth.'}`,
  );
}

function kindOf(text: string): GpuLibraryKind {
  const kind = GPU_KINDS.find((name) => name === text);
  if (kind === undefined) throw new InvalidArgumentError(`not one of ${GPU_KINDS.join(', ')}`);
  return kind;
}
