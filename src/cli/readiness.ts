/** Whether a Hearth answers at the configured address: /health, which needs no key and loads nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { formatDuration } from '../lib/base/duration.ts';
import { baseUrl } from './api.ts';
import { CliFailure, EXIT_CODES } from './context.ts';
import { askHealth } from './open-request.ts';

const PAUSE_MS = 100;

/** Ends the verb with exit code 3 when the time is over. */
export async function waitUntilAnswering(config: Config, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isAnswering(config, 1000))) {
    if (performance.now() >= deadline) {
      throw new CliFailure(
        `nothing answers at ${baseUrl(config)} after ${formatDuration(timeoutMs)}`,
        EXIT_CODES.unreachable,
      );
    }
    await delay(PAUSE_MS);
  }
}

export async function isAnswering(config: Config, timeoutMs: number): Promise<boolean> {
  return (await askHealth(config, timeoutMs)) !== null;
}
