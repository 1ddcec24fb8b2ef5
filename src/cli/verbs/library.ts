/** hearth library: which llama.cpp models run on, and a build of the user's own in place of Hearth's. */
import type { Command } from 'commander';
import { askDevices, type WorkerSettings } from '../../api/own-worker.ts';
import type { BackendFacts } from '../../contract/load.ts';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { librariesFolder, LLAMA_CPP_RELEASE, ownLibrary } from '../../lib/files/native-library.ts';
import { hashBackend } from '../../trust/identity/backend.ts';
import { installOwn, outdatedHint, readOwn, removeOwn } from '../../store/libraries/own.ts';
import { shippedChatModel } from '../builtin-models.ts';
import { type CliContext, EXIT_CODES, printable } from '../context.ts';

export function registerLibrary(program: Command, context: CliContext): void {
  const library = program
    .command('library')
    .description('show which llama.cpp library models run on')
    .option('--json', 'one JSON document')
    .action((flags: { json?: boolean }) => show(context, flags.json === true));
  library
    .command('use <folder>')
    .description(`run models on your own build of llama.cpp ${LLAMA_CPP_RELEASE}, which is copied`)
    .action((folder: string) => use(context, folder));
  library
    .command('remove')
    .description('delete the copy of your own build')
    .action(() => remove(context));
}

/** What a service that is started now would bind. */
async function show(context: CliContext, json: boolean): Promise<void> {
  const { gpu, home } = context.config();
  const libraries = librariesFolder(home);
  const files = ownLibrary(libraries);
  const own = files === null ? null : await readOwn(libraries);
  const facts = await askDevices({ env: context.env, gpu, libraries }).catch((error: unknown) => {
    if (!isFailure(error, 'native_unavailable')) throw error;
    context.setExitCode(EXIT_CODES.failure);
    return { failed: error.detail.reason };
  });
  const isBound = !('failed' in facts);
  const sha256 = isBound ? ((await hashBackend(facts.folder))?.sha256 ?? null) : null;
  const shown = {
    own: files !== null,
    release: LLAMA_CPP_RELEASE,
    from: own?.from ?? null,
    copiedAt: own?.copiedAt ?? null,
    notice: outdatedHint(libraries),
    sha256,
  };
  if (json) return context.printJson({ ...shown, ...(isBound ? boundOf(facts) : facts) });
  context.print(
    printable(files === null ? `llama.cpp ${LLAMA_CPP_RELEASE}, as it comes with Hearth` : describeOwn(own)),
  );
  if (isBound) for (const line of describeBound(facts, sha256)) context.print(printable(line));
  else context.note(printable(`It cannot be used: ${facts.failed}; hearth doctor says what helps.`));
  if (files === null) context.print('your own build: hearth library use FOLDER');
  if (shown.notice !== null) context.note(shown.notice);
}

const boundOf = ({ folder, devices = [], systemInfo }: BackendFacts) => ({ folder, devices, systemInfo });

function describeBound({ folder, devices = [], systemInfo }: BackendFacts, sha256: string | null): string[] {
  return [
    `folder   ${folder}`,
    `sha256   ${sha256 ?? 'unknown'}`,
    ...devices.map(({ name, description }) => `device   ${name}, ${description}`),
    `features ${featuresOf(systemInfo)}`,
  ];
}

function describeOwn(own: Awaited<ReturnType<typeof readOwn>>): string {
  const build = `llama.cpp ${LLAMA_CPP_RELEASE}, your own build`;
  return own === null ? build : `${build}: copied from ${own.from} on ${own.copiedAt.slice(0, 10)}`;
}

/** What the processor has and the build uses: `CPU : AVX2 = 1 | FMA = 0 | …` as names. */
function featuresOf(systemInfo: string): string {
  const names = [...systemInfo.matchAll(/(\w+) = 1\b/g)].map(([, name = '']) => name);
  return names.length === 0 ? 'none' : names.join(' ');
}

const RESTART =
  'If the service runs, restart it: until then it loads no further model, because its library has changed.';

/** A build can be loaded and yet end every process that loads a model with it. */
async function tryOut(settings: WorkerSettings): Promise<void> {
  await askDevices(settings);
  const { tryLibrary } = await import('../../api/probe/probe-model.ts');
  await tryLibrary(settings, shippedChatModel());
}

async function use(context: CliContext, folder: string): Promise<void> {
  const { gpu, home } = context.config();
  const { from, change } = await installOwn({
    libraries: librariesFolder(home),
    from: folder,
    nowMs: Date.now(),
    tryOut: (libraries) => tryOut({ env: context.env, gpu, libraries }),
    hash: async (each) => (await hashBackend(each))?.sha256 ?? null,
  });
  const notes = {
    new: 'It was tried and copied. If the service runs, it takes the copy after a restart.',
    replaced: `It was tried, and copied over the one before. ${RESTART}`,
    same: 'It is in use already; nothing was changed.',
  };
  context.note(`${printable(from)}: ${notes[change]}`);
}

async function remove(context: CliContext): Promise<void> {
  const wasThere = await removeOwn(librariesFolder(context.config().home));
  context.note(
    wasThere ? `The copy of your own build is removed. ${RESTART}` : 'No build of your own is in use.',
  );
}
