/**
 * cli/verbs/models owns the verbs that change or show installed models. It knows nothing of a running server. This
 * file: hearth import FILE… and --from STORE, by default without copying.
 */
import { didYouMean, nearest } from '../../../lib/base/nearest.ts';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { multiselect } from '@clack/prompts';
import type { Command } from 'commander';
import { FOREIGN_STORES } from '../../../store/files/manifest.ts';
import { scanForeignStore } from '../../../store/foreign/discover.ts';
import type { ForeignScan } from '../../../store/foreign/foreign-store.ts';
import { scanFolder } from '../../../store/foreign/llama-cpp.ts';
import {
  type Candidate,
  importFile,
  type ImportOptions,
  installCandidate,
} from '../../../store/install/import.ts';
import { textFromCommand } from '../../../store/install/setting-texts.ts';
import type { InstalledModel, Registry } from '../../../store/registry/registry.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { showProgress } from '../../install-progress.ts';
import { announcing } from '../../new-model.ts';
import {
  foreignEnvironment,
  interruptible,
  localRegistry,
  probeHere,
  setHere,
  signaturesHere,
} from '../../local-registry.ts';

interface ImportFlags {
  readonly id?: string;
  readonly name?: string;
  readonly copy?: boolean;
  readonly hardLink?: boolean;
  readonly probe: boolean;
  readonly default: boolean;
  readonly from?: string;
  readonly all?: boolean;
  readonly template?: string;
  readonly projector?: string;
  readonly json?: boolean;
}

export function registerImport(program: Command, context: CliContext): void {
  program
    .command('import [names...]')
    .description('install a GGUF file, or the models of another program, in place')
    .option('--id <id>', 'install under this id')
    .option('--name <id>', 'the same as --id')
    .option('-c, --copy', 'copy the file into the store')
    .option('-l, --hard-link', 'hard-link the file into the store')
    .option('--from <store>', `install models of ${FOREIGN_STORES.join(', ')}, or of a folder`)
    .option('--all', 'with --from: every model')
    .option('--projector <file>', 'the file that lets the model read images or audio (mmproj)')
    .option('--template <name>', 'chat with this template: a known one by its name, or a file')
    .option('--no-probe', 'skip the trial run in a separate process')
    .option('--no-default', 'keep the present default models, for later installs too')
    .option('--json', 'progress as JSON lines')
    .action(async (names: string[], { name, ...given }: ImportFlags) => {
      const flags = name === undefined ? given : { id: name, ...given };
      await interruptible(context, (signal) =>
        flags.from === undefined
          ? importFiles(context, names, flags, signal)
          : importFrom(context, flags.from, names, flags, signal),
      );
    });
}

async function importFiles(
  context: CliContext,
  paths: readonly string[],
  flags: ImportFlags,
  signal: AbortSignal,
): Promise<void> {
  if (paths.length === 0) throw new CliFailure('name a GGUF file, or a store with --from', EXIT_CODES.usage);
  if (paths.length > 1 && flags.id !== undefined)
    throw new CliFailure('--id is for one file', EXIT_CODES.usage);
  if (paths.length > 1 && flags.projector !== undefined)
    throw new CliFailure('--projector is for one file', EXIT_CODES.usage);
  const config = context.config();
  const registry = localRegistry(config);
  const named = paths.map((path) => ({ name: path, path }));
  const template = await readTemplate(flags);
  await installAll({ context, flags, signal, registry, template }, named, ({ path }, options) =>
    importFile(registry, path, {
      ...options,
      ...(flags.id === undefined ? {} : { id: flags.id }),
      ...(flags.projector === undefined ? {} : { projector: flags.projector }),
    }),
  );
}

async function importFrom(
  context: CliContext,
  store: string,
  names: readonly string[],
  flags: ImportFlags,
  signal: AbortSignal,
): Promise<void> {
  const scan = await scanStore(context, store);
  for (const problem of scan.problems) context.note(printable(`${problem.path}: ${problem.reason}`));
  const chosen = await choose(scan, names, flags);
  const registry = localRegistry(context.config());
  const named = chosen.map((candidate) => ({ name: candidate.id, candidate }));
  const template = await readTemplate(flags);
  await installAll({ context, flags, signal, registry, template }, named, ({ candidate }, options) =>
    installCandidate(registry, flags.id === undefined ? candidate : { ...candidate, id: flags.id }, options),
  );
}

async function scanStore(context: CliContext, store: string): Promise<ForeignScan> {
  const known = FOREIGN_STORES.find((name) => name === store);
  const scan = known ? await scanForeignStore(known, foreignEnvironment(context)) : await scanFolder(store);
  if (scan.roots.length === 0 && scan.problems.length === 0) {
    throw new CliFailure(
      known
        ? `no models of ${known} were found on this machine`
        : `there is no store or folder ${store}; stores are ${FOREIGN_STORES.join(', ')}.${didYouMean(nearest(store, FOREIGN_STORES))}`,
      EXIT_CODES.notFound,
    );
  }
  return scan;
}

async function choose(
  scan: ForeignScan,
  names: readonly string[],
  flags: ImportFlags,
): Promise<readonly Candidate[]> {
  if (flags.all === true) return scan.candidates;
  const known = scan.candidates.map((candidate) => candidate.id).join(', ') || 'none';
  if (names.length > 0) return names.map((name) => named(scan, name, known));
  if (!process.stdin.isTTY || !process.stderr.isTTY || scan.candidates.length === 0)
    throw new CliFailure(`name models to take, or use --all; found: ${printable(known)}`, EXIT_CODES.usage);
  const picked = await multiselect({
    message: 'Which models?',
    options: scan.candidates.map((candidate) => ({ value: candidate.id, label: printable(candidate.id) })),
    output: process.stderr,
  });
  return Array.isArray(picked) ? scan.candidates.filter((candidate) => picked.includes(candidate.id)) : [];
}

function named(scan: ForeignScan, name: string, known: string): Candidate {
  const lower = name.toLowerCase();
  const found = scan.candidates.find(
    (candidate) => candidate.id === lower || candidate.aliases.some((alias) => alias.toLowerCase() === lower),
  );
  if (!found)
    throw new CliFailure(`${scan.store} has no model ${name}; found: ${known}`, EXIT_CODES.notFound);
  return found;
}

interface Installing {
  readonly context: CliContext;
  readonly flags: ImportFlags;
  readonly signal: AbortSignal;
  readonly registry: Registry;
  readonly template: string | undefined;
}

async function installAll<T extends { readonly name: string }>(
  installing: Installing,
  models: readonly T[],
  install: (model: T, options: ImportOptions) => Promise<InstalledModel>,
): Promise<void> {
  let failures = 0;
  for (const model of models) {
    try {
      await withProgress(installing, (options) => install(model, options));
    } catch (error) {
      if (installing.signal.aborted || models.length === 1) throw error;
      failures += 1;
      const reason = errorMessage(error);
      installing.context.note(printable(`${model.name}: ${reason}`));
    }
  }
  if (failures > 0) throw new CliFailure(`${failures} of ${models.length} models were not installed`);
}

async function withProgress(
  { context, flags, signal, registry, template }: Installing,
  install: (options: ImportOptions) => Promise<InstalledModel>,
): Promise<void> {
  const shown = showProgress(context, flags.json === true);
  const installing = async (): Promise<string> => {
    try {
      const { id } = await install({
        signal,
        onEvent: shown.onEvent,
        ...(flags.copy === true ? { copy: true } : {}),
        ...(flags.hardLink === true ? { hardLink: true } : {}),
        ...(flags.probe ? { probe: probeHere(context) } : {}),
        signatures: signaturesHere(context),
      });
      // The model stays installed if the template cannot be used for it.
      if (template !== undefined) await setHere(context, registry, id, { template });
      return id;
    } finally {
      shown.end();
    }
  };
  await announcing(flags.json === true ? null : context, registry, installing, flags.default);
}

/** Runs first, so that a misspelt name or a missing path is reported before anything is installed. */
async function readTemplate({ template }: ImportFlags): Promise<string | undefined> {
  return template === undefined ? undefined : textFromCommand('template', template);
}
