/**
 * cli owns the terminal: verbs are registered, one runs, its failure becomes a sentence and an exit code. It knows
 * nothing of how a job runs or a file is stored; verbs call use cases, the store, or the running server.
 */
import { Command, CommanderError } from 'commander';
import { entryOf } from '../lib/errors/catalogue.ts';
import type { Family } from '../lib/errors/entry.ts';
import { isSvcError } from '../lib/errors/svc-error.ts';
import {
  CliFailure,
  type CliContext,
  createContext,
  EXIT_CODES,
  type GlobalFlags,
  printable,
} from './context.ts';
import { readVersion } from './version.ts';
import { inCliWords } from './wording.ts';

type Register = (program: Command, context: CliContext) => void;

/**
 * Verbs by the names they answer to, in the order of --help. A verb's module is loaded only when it is named, because
 * the server behind `serve` costs more to load than most verbs take.
 */
const verbs: readonly (readonly [names: readonly string[], load: () => Promise<Register>])[] = [
  [['serve', 'start'], async () => (await import('./verbs/server/serve.ts')).registerServe],
  [['status'], async () => (await import('./verbs/server/status.ts')).registerStatus],
  [['run'], async () => (await import('./verbs/server/run.ts')).registerRun],
  [['ps'], async () => (await import('./verbs/server/ps.ts')).registerPs],
  [['stop'], async () => (await import('./verbs/server/stop.ts')).registerStop],
  [['config'], async () => (await import('./verbs/server/config.ts')).registerConfig],
  [['pull'], async () => (await import('./verbs/models/pull.ts')).registerPull],
  [['import'], async () => (await import('./verbs/models/import.ts')).registerImport],
  [['discover'], async () => (await import('./verbs/models/discover.ts')).registerDiscover],
  [['list', 'ls'], async () => (await import('./verbs/models/list.ts')).registerList],
  [['show'], async () => (await import('./verbs/models/show.ts')).registerShow],
  [['default'], async () => (await import('./verbs/models/cp.ts')).registerDefault],
  [['cp'], async () => (await import('./verbs/models/cp.ts')).registerCp],
  [['set'], async () => (await import('./verbs/models/set.ts')).registerSet],
  [['rm'], async () => (await import('./verbs/models/rm.ts')).registerRm],
  [['verify'], async () => (await import('./verbs/models/verify.ts')).registerVerify],
  [['prune'], async () => (await import('./verbs/models/prune.ts')).registerPrune],
  [['gpu'], async () => (await import('./verbs/gpu.ts')).registerGpu],
  [['evidence'], async () => (await import('./verbs/evidence.ts')).registerEvidence],
];

export async function main(argv: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const program = new Command('hearth')
    .description('A local LLM service whose answers can be proved.')
    .version(readVersion(), '-v, --version')
    .option('--home <folder>', 'use this folder instead of SVC_HOME')
    .option('--dev', 'use the isolated development endpoint: port 8741, its own home and identity')
    .showHelpAfterError('(hearth --help lists the verbs)')
    .exitOverride();
  const context = createContext(() => program.opts<GlobalFlags>(), process.env);
  for (const load of named(argv)) (await load())(program, context);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
}

const EXIT_CODE_OF_FAMILY: Partial<Record<Family, number>> = {
  not_found: EXIT_CODES.notFound,
  request: EXIT_CODES.usage,
};

/** The verbs that the arguments may name; if none, all of them, for the help text and for unknown words. */
function named(argv: readonly string[]): (() => Promise<Register>)[] {
  const meant = verbs.filter(([names]) => names.some((name) => argv.includes(name)));
  return (meant.length > 0 && !argv.includes('help') ? meant : verbs).map(([, load]) => load);
}

/** Prints why a verb failed and returns its exit code. */
function report(error: unknown): number {
  // commander has printed its own message by now; help and --version are no failures.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`hearth: ${printable(inCliWords(message))}\n`);
  if (error instanceof CliFailure) return error.exitCode;
  if (isSvcError(error)) return EXIT_CODE_OF_FAMILY[entryOf(error.code).family] ?? EXIT_CODES.failure;
  process.stderr.write(`${error instanceof Error ? error.stack : ''}\n`);
  return EXIT_CODES.failure;
}

/** `hearth list | head -1` closes our stdout, and a terminal may be closed under a service that ends; that is no error. */
function ignoreBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}
