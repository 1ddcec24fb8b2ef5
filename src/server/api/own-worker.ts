/** A worker of this process alone, independent of any server: for trying a file, replaying a record, listing GPUs. */
import type { BackendFacts } from '../../contract/load.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { createLocalBackend, type LocalBackend } from '../engine/local/local-backend.ts';

export interface WorkerSettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly gpu: string;
  readonly libraries?: string;
}

/** The caller closes it. */
export function startOwnWorker({ env, ...settings }: WorkerSettings): LocalBackend {
  return createLocalBackend({
    ...settings,
    hostEnv: env,
    clock: systemClock,
    log: silentLogger,
    draftTokens: 0,
  });
}

export async function askDevices(settings: WorkerSettings): Promise<BackendFacts> {
  const backend = startOwnWorker(settings);
  try {
    return await backend.boot();
  } finally {
    await backend.close();
  }
}
