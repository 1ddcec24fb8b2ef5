/** The program: verbs are registered, one runs, its failure becomes a sentence and an exit code. */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { entryOf, type Family } from '../errors/catalogue.ts';
import { isSvcError } from '../errors/svc-error.ts';
import {
  CliFailure,
  type CliContext,
  createContext,
  exitCodes,
  type GlobalFlags,
  printable,
} from './context.ts';
import { registerConfig } from './verbs/config.ts';
import { registerPs } from './verbs/ps.ts';
import { registerServe } from './verbs/serve.ts';
import { registerStatus } from './verbs/status.ts';
import { registerStop } from './verbs/stop.ts';
import { registerCp, registerDefault } from './verbs/cp.ts';
import { registerDiscover } from './verbs/discover.ts';
import { registerImport } from './verbs/import.ts';
import { registerList } from './verbs/list.ts';
import { registerEvidence } from './verbs/evidence.ts';
import { registerPrune } from './verbs/prune.ts';
import { registerPull } from './verbs/pull.ts';
import { registerRm } from './verbs/rm.ts';
import { registerSet } from './verbs/set.ts';
import { registerShow } from './verbs/show.ts';
import { registerVerify } from './verbs/verify.ts';
import { readVersion } from './version.ts';

type Register = (program: Command, context: CliContext) => void;

/** In the order of --help. */
const verbs: readonly Register[] = [
  registerServe,
  registerStatus,
  registerPs,
  registerStop,
  registerConfig,
  registerPull,
  registerImport,
  registerDiscover,
  registerList,
  registerShow,
  registerDefault,
  registerCp,
  registerSet,
  registerRm,
  registerVerify,
  registerPrune,
  registerEvidence,
];

export async function main(argv: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const program = new Command('hearth')
    .description('The local LLM service that people trust.')
    .version(readVersion(), '-v, --version')
    .option('--home <folder>', 'use this folder instead of SVC_HOME')
    .option('--dev', 'use the isolated development endpoint: port 8741, its own home and identity')
    .showHelpAfterError('(hearth --help lists the verbs)')
    .exitOverride();
  const context = createContext(() => program.opts<GlobalFlags>(), process.env);
  for (const register of verbs) register(program, context);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
}

const exitCodeOfFamily: Partial<Record<Family, number>> = {
  not_found: exitCodes.notFound,
  request: exitCodes.usage,
};

/** Prints why a verb failed and returns its exit code. */
function report(error: unknown): number {
  // commander has printed its own message by now; help and --version are no failures.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`hearth: ${printable(message)}\n`);
  if (error instanceof ConfigError) return exitCodes.usage;
  if (error instanceof CliFailure) return error.exitCode;
  if (isSvcError(error)) return exitCodeOfFamily[entryOf(error.code).family] ?? exitCodes.failure;
  process.stderr.write(`${error instanceof Error ? error.stack : ''}\n`);
  return exitCodes.failure;
}

/** `hearth list | head -1` closes our stdout; that is no error. */
function ignoreBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
