/** Registry of the configured home. Verbs work on the files themselves, with or without a running server. */
import { homedir } from 'node:os';
import { buildEdition, knownFormat } from '../server/api/check/known-format.ts';
import { setTried } from '../server/api/check/set-tried.ts';
import { signatureGate } from '../server/api/passport/signature-gate.ts';
import type { Config } from '../config/config.ts';
import type { ForeignEnvironment } from '../store/foreign/foreign-store.ts';
import type { Probe } from '../store/install/inspection.ts';
import type { SignatureGate } from '../store/install/signature-gate.ts';
import type { ModelFormatFacts } from '../contract/job-event.ts';
import type { ParamsPatch } from '../store/install/changes.ts';
import { type InstalledModel, openRegistry, type Registry } from '../store/registry/registry.ts';
import { librariesFolder } from '../lib/files/native-library.ts';
import { type CliContext, EXIT_CODES, printable } from './context.ts';
import { readVersion } from './version.ts';

export function localRegistry(config: Config): Registry {
  return openRegistry({ home: config.home, settings: config });
}

export function probeHere(context: CliContext): Probe {
  const { gpu, home } = context.config();
  const settings = { env: context.env, gpu, libraries: librariesFolder(home) };
  return async (target) => {
    const { createProbe } = await import('../server/api/probe/probe-model.ts');
    return createProbe(settings, (line) => context.note(line))(target);
  };
}

export function signaturesHere(context: CliContext): SignatureGate | undefined {
  return signatureGate(context.config());
}

export async function formatHere(
  context: CliContext,
  registry: Registry,
  model: InstalledModel,
): Promise<ModelFormatFacts | null> {
  const { home } = context.config();
  return knownFormat({ home, edition: await buildEdition(readVersion()) }, model, async () => {
    const { startOwnWorker } = await import('../server/api/own-worker.ts');
    const backend = startOwnWorker({ env: context.env, gpu: 'off' });
    try {
      return await backend.askFormat(registry.toTarget(model));
    } finally {
      await backend.close();
    }
  });
}

/** Tries a file for the template or tool format on the model first. */
export async function setHere(
  context: CliContext,
  registry: Registry,
  id: string,
  patch: ParamsPatch,
): Promise<InstalledModel> {
  const { model, doubts } = await setTried(registry, id, patch, (next) =>
    formatHere(context, registry, next),
  );
  for (const doubt of doubts) context.note(printable(doubt));
  return model;
}

export function foreignEnvironment(context: CliContext): ForeignEnvironment {
  return { env: context.env, userHome: homedir(), platform: process.platform };
}

/** For work that keeps nothing for the next run. */
export const STARTS_OVER = 'Nothing was changed; the same command starts over.';

/**
 * Ctrl-C aborts and keeps the partial result for the next run; `hasHurry`: the first one ends the work early instead.
 * One more ends the process at once.
 */
export async function interruptible<T>(
  context: CliContext,
  work: (signal: AbortSignal, hurry: AbortSignal) => Promise<T>,
  { again = 'Run the same command again to continue.', hasHurry = false } = {},
): Promise<T | undefined> {
  const controller = new AbortController();
  const hurry = new AbortController();
  const interrupt = (): void => {
    if (!hasHurry || hurry.signal.aborted) {
      process.removeListener('SIGINT', interrupt);
      return controller.abort();
    }
    context.note('Finishing with what was compared so far; interrupt again to end at once.');
    hurry.abort();
  };
  process.on('SIGINT', interrupt);
  try {
    return await work(controller.signal, hurry.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    context.note(`Interrupted. ${again}`);
    context.setExitCode(EXIT_CODES.interrupted);
    return undefined;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}
