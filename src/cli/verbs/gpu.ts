/** hearth gpu: what GPUs this machine has, and the libraries that use them. */
import { homedir } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { askDevices } from '../../api/own-worker.ts';
import { readable } from '../../lib/base/byte-size.ts';
import { librariesFolder } from '../../lib/files/native-library.ts';
import { installLibrary, libraryFor, removeLibrary } from '../../store/libraries/install.ts';
import { GPU_KINDS, type GpuLibraryKind } from '../../store/libraries/packages.ts';
import { type CliContext, printable } from '../context.ts';
import { showProgress } from '../install-progress.ts';
import { interruptible } from '../local-registry.ts';

const PLATFORM = `${process.platform}-${process.arch}`;

export function registerGpu(program: Command, context: CliContext): void {
  const gpu = program
    .command('gpu')
    .description('show the GPUs of this machine, and what it would take to use them')
    .option('--json', 'one JSON document')
    .action((flags: { json?: boolean }) => show(context, flags.json === true));
  gpu
    .command('install <kind>')
    .description(`fetch the library for GPUs of a kind: ${GPU_KINDS.join(' or ')}`)
    .option('--json', 'progress as JSON lines')
    .action((kind: string, flags: { json?: boolean }) => install(context, kindOf(kind), flags.json === true));
  gpu
    .command('remove <kind>')
    .description('delete a library that was fetched')
    .action((kind: string) => remove(context, kindOf(kind)));
}

async function show(context: CliContext, json: boolean): Promise<void> {
  const { gpu, home } = context.config();
  const facts = await askDevices({ env: context.env, gpu, libraries: librariesFolder(home) });
  const devices = (facts.devices ?? []).filter(({ kind }) => kind !== 'cpu');
  const support = facts.gpuSupport ?? [];
  if (json) return context.printJson({ setting: gpu, folder: facts.folder, devices, support });
  for (const { name, description, totalBytes } of devices)
    context.print(printable(`${name}  ${description}, ${readable(totalBytes)}`));
  if (devices.length === 0) context.print(`No GPU is used (SVC_GPU=${gpu}); models run on the processor.`);
  for (const { kind, installed, missing } of support) {
    const need = missing.length === 0 ? '' : `; this machine lacks ${missing.join(', ')}`;
    const hint = installed || missing.length > 0 ? '' : `; to use it: hearth gpu install ${kind}`;
    context.print(`${kind}: library ${installed ? 'installed' : 'not installed'}${need}${hint}`);
  }
}

async function install(context: CliContext, kind: GpuLibraryKind, json: boolean): Promise<void> {
  // Loaded on demand, like the hub for `pull`.
  const { openAccess } = await import('../../store/hub/access.ts');
  const { USUAL_RETRIES } = await import('../../store/hub/retry.ts');
  const { throughProxies } = await import('../../store/libraries/proxy-tunnel.ts');
  const { readRegistry } = await import('../../store/libraries/registry.ts');
  const { home, hubHosts } = context.config();
  const library = libraryFor(kind, PLATFORM);
  const registry = await readRegistry({ env: context.env, userHome: homedir() });
  const { url, token } = registry;
  const direct = openAccess({ endpoint: url, token, trustedHosts: hubHosts });
  const access = { ...direct, connect: throughProxies(registry, direct.stallMs) };
  const shown = showProgress(context, json);
  await interruptible(context, async (signal) => {
    try {
      const isNew = await installLibrary({
        folder: librariesFolder(home),
        library,
        access,
        registry: url,
        retries: USUAL_RETRIES,
        onEvent: shown.onEvent,
        signal,
      });
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
  const wasThere = await removeLibrary(librariesFolder(context.config().home), libraryFor(kind, PLATFORM));
  context.note(
    `The ${kind} library ${wasThere ? 'is removed. Restart a server that runs.' : 'was not installed by hearth.'}`,
  );
}

function kindOf(text: string): GpuLibraryKind {
  const kind = GPU_KINDS.find((name) => name === text);
  if (kind === undefined) throw new InvalidArgumentError(`not one of ${GPU_KINDS.join(', ')}`);
  return kind;
}
