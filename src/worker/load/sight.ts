/** Opens the projector of a chat model; without a usable one, the model serves text. */
import { randomBytes } from 'node:crypto';
import type { LoadSpec } from '../../contract/load.ts';
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { MediaRoom } from '../media/media-room.ts';
import type { Sight } from '../media/read-media.ts';
import type { NativeBackend, NativeModel, NativeProjector } from '../native.ts';
import { usesDevices } from './load-options.ts';

export interface OpenedSight {
  readonly sight: Sight;
  /** Of the memory of the machine. */
  readonly bytes: number;
}

/** Null: the model has no projector. */
export async function openSight(
  backend: NativeBackend,
  spec: LoadSpec,
  { model, exact }: { readonly model: NativeModel; readonly exact: boolean },
): Promise<OpenedSight | null> {
  const { projector, modelId, settings } = spec;
  if (projector === undefined) return null;
  const none = (reason: string, remedy: string): OpenedSight => ({ sight: { reason, remedy }, bytes: 0 });
  if (exact) {
    return none(
      'it is loaded so that the same request always gets the same answer, which holds for text',
      `run: hearth set ${modelId} exact=`,
    );
  }
  if (!backend.readsMedia) {
    return none(
      'the library that reads images and audio is not installed',
      'run: hearth library build --media, then restart the service',
    );
  }
  const before = process.memoryUsage.rss();
  let opened: NativeProjector;
  try {
    opened = await model.openProjector(projector.path, {
      threads: spec.threads ?? backend.facts.cpuMathCores,
      onGpu: usesDevices(backend, settings),
    });
  } catch (error) {
    return none(
      `its projector cannot be used (${errorMessage(error)})`,
      'install the model again with the projector that was made for it',
    );
  }
  const bytes = Math.max(0, process.memoryUsage.rss() - before);
  // Without a digest nothing is found again after a restart.
  const digest = projector.digest ?? randomBytes(32).toString('hex');
  return { sight: new MediaRoom(opened, digest), bytes };
}
