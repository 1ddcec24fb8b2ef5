import { askDevices, type WorkerSettings } from '../../../server/api/own-worker.ts';
import { isTestedRelease, librariesFolder } from '../../../lib/files/native-library.ts';
import type { OwnInstall } from '../../../store/libraries/own.ts';
import { hashBackend } from '../../../trust/identity/backend.ts';
import { shippedChatModel } from '../../builtin-models.ts';
import { type CliContext, printable } from '../../context.ts';

/** A build may load and still crash every process that loads a model with it. */
async function tryOut(settings: WorkerSettings): Promise<{ readonly version?: string }> {
  const { version } = await askDevices(settings);
  const { tryLibrary } = await import('../../../server/api/probe/probe-model.ts');
  await tryLibrary(settings, shippedChatModel());
  return version === undefined ? {} : { version };
}

export function installation(
  context: CliContext,
): Pick<OwnInstall, 'libraries' | 'nowMs' | 'tryOut' | 'hash'> {
  const { gpu, home } = context.config();
  return {
    libraries: librariesFolder(home),
    nowMs: Date.now(),
    tryOut: (libraries) => tryOut({ env: context.env, gpu, libraries }),
    hash: async (each) => (await hashBackend(each))?.sha256 ?? null,
  };
}

/** Printed once at installation; `hearth library`, the identity and records repeat it. */
export function untestedNote(context: CliContext, release: string): void {
  if (isTestedRelease(release)) return;
  context.note(
    printable(
      `Hearth's tests do not run on llama.cpp ${release}: its headers agree with what Hearth calls, and a model answered. To go back: hearth library switch`,
    ),
  );
}

export const laterWords = (name: string): string =>
  `It is not in use; compare it with the present library: hearth upgrade --library ${name}`;
