/** hearth library: which llama.cpp computes, and a build of the user's own in place of Hearth's. */
import type { Command } from 'commander';
import { askDevices } from '../../api/own-worker.ts';
import { librariesFolder, LLAMA_CPP_RELEASE, ownLibrary } from '../../lib/files/native-library.ts';
import { hashBackend } from '../../trust/identity/backend.ts';
import { installOwn, outdatedHint, readOwn, removeOwn } from '../../store/libraries/own.ts';
import { type CliContext, printable } from '../context.ts';

export function registerLibrary(program: Command, context: CliContext): void {
  const library = program
    .command('library')
    .description('show which llama.cpp library computes')
    .option('--json', 'one JSON document')
    .action((flags: { json?: boolean }) => show(context, flags.json === true));
  library
    .command('use <folder>')
    .description(`compute with your own build of llama.cpp ${LLAMA_CPP_RELEASE}, which is copied`)
    .action((folder: string) => use(context, folder));
  library
    .command('remove')
    .description('delete the copy of your own build')
    .action(() => remove(context));
}

async function show(context: CliContext, json: boolean): Promise<void> {
  const { gpu, home } = context.config();
  const libraries = librariesFolder(home);
  const facts = await askDevices({ env: context.env, gpu, libraries });
  const own = ownLibrary(libraries) === null ? null : await readOwn(libraries);
  const isOwn = ownLibrary(libraries) !== null;
  const sha256 = (await hashBackend(facts.folder))?.sha256 ?? null;
  const { folder, devices = [], systemInfo } = facts;
  if (json)
    return context.printJson({ own: isOwn, from: own?.from ?? null, folder, sha256, devices, systemInfo });
  const lines = [
    ...(isOwn ? [describeOwn(own)] : [`The llama.cpp that came with Hearth (${LLAMA_CPP_RELEASE}).`]),
    `folder   ${folder}`,
    `sha256   ${sha256 ?? 'unknown'}`,
    ...devices.map(({ name, description }) => `device   ${name}, ${description}`),
    `features ${featuresOf(systemInfo)}`,
  ];
  for (const line of lines) context.print(printable(line));
  const hint = outdatedHint(libraries);
  if (hint !== null) context.note(hint);
}

const describeOwn = (own: Awaited<ReturnType<typeof readOwn>>): string =>
  own === null
    ? `Your own build of llama.cpp (${LLAMA_CPP_RELEASE}).`
    : `Your own build of llama.cpp (${LLAMA_CPP_RELEASE}), copied from ${own.from} on ${own.copiedAt.slice(0, 10)}.`;

/** What the processor has and the build uses: `CPU : AVX2 = 1 | FMA = 0 | …` as names. */
function featuresOf(systemInfo: string): string {
  const names = [...systemInfo.matchAll(/(\w+) = 1\b/g)].map(([, name = '']) => name);
  return names.length === 0 ? 'none' : names.join(' ');
}

async function use(context: CliContext, folder: string): Promise<void> {
  const { gpu, home } = context.config();
  const from = await installOwn({
    libraries: librariesFolder(home),
    from: folder,
    nowMs: Date.now(),
    tryOut: (libraries) => askDevices({ env: context.env, gpu, libraries }),
  });
  context.note(
    `The llama.cpp in ${printable(from)} was tried and copied. A server that runs takes it after a restart: hearth serve`,
  );
}

async function remove(context: CliContext): Promise<void> {
  const wasThere = await removeOwn(librariesFolder(context.config().home));
  context.note(
    wasThere
      ? 'The copy of your own build is removed. A server that runs takes the library that came with Hearth after a restart: hearth serve'
      : 'No build of your own is in use.',
  );
}
