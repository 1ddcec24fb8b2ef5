/** The registry of the configured home. Verbs work on the files themselves, whether or not a server runs. */
import { homedir } from 'node:os';
import type { Config } from '../config/config.ts';
import type { ForeignEnvironment } from '../store/foreign/foreign-store.ts';
import type { Probe } from '../store/install/inspection.ts';
import { openRegistry, type Registry } from '../store/registry/registry.ts';
import { librariesFolder } from '../lib/files/native-library.ts';
import { type CliContext, EXIT_CODES } from './context.ts';

export function localRegistry(config: Config): Registry {
  return openRegistry({ home: config.home, settings: config });
}

/** Tries a model on this machine, with the GPU setting of the server. */
export function probeHere(context: CliContext): Probe {
  const { gpu, home } = context.config();
  const settings = { env: context.env, gpu, libraries: librariesFolder(home) };
  return async (target) => {
    // Loaded on demand: most verbs that use the registry try nothing.
    const { createProbe } = await import('../api/probe/probe-model.ts');
    return createProbe(settings, (line) => context.note(line))(target);
  };
}

export function foreignEnvironment(context: CliContext): ForeignEnvironment {
  return { env: context.env, userHome: homedir(), platform: process.platform };
}

/** Aborts on Ctrl-C and keeps the partial result for the next run. A second Ctrl-C ends the process at once. */
export async function interruptible<T>(
  context: CliContext,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort();
  process.once('SIGINT', interrupt);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    context.note('Interrupted. Run the same command again to continue.');
    context.setExitCode(EXIT_CODES.interrupted);
    return undefined;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}
