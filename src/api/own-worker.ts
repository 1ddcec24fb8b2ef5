/** A worker of this process alone, apart from any server: for trying a file and for replaying a record. */
import { systemClock } from '../lib/base/clock.ts';
import { silentLogger } from '../lib/base/logger.ts';
import { createLocalBackend, type LocalBackend } from '../engine/local/local-backend.ts';

export interface WorkerSettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly gpu: string;
}

/** The caller closes it. */
export function startOwnWorker({ env, gpu }: WorkerSettings): LocalBackend {
  return createLocalBackend({ hostEnv: env, gpu, clock: systemClock, log: silentLogger, draftTokens: 0 });
}
