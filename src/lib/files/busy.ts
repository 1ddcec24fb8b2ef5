/** Windows refuses to rename or remove a file that another program has open, as virus scanners briefly do. */
import { rename as renameOnce, unlink as unlinkOnce } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const PAUSES_MS = [10, 20, 40, 80, 160, 320, 640];
/** EPERM and EACCES may also mean missing rights, which waiting does not fix; the last try reports them. */
const BUSY = ['EBUSY', 'EPERM', 'EACCES'];

interface Waiting {
  readonly platform: string;
  pause(ms: number): Promise<unknown>;
}

const ofThisSystem: Waiting = { platform: process.platform, pause: delay };

/** Retries only on Windows; rethrows the last failure unchanged. */
export async function untilFree<T>(
  operation: () => Promise<T>,
  { platform, pause }: Waiting = ofThisSystem,
): Promise<T> {
  const pauses = platform === 'win32' ? PAUSES_MS : [];
  for (const ms of pauses) {
    try {
      return await operation();
    } catch (error) {
      if (!BUSY.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      await pause(ms);
    }
  }
  return operation();
}

export const rename = (from: string, to: string): Promise<void> => untilFree(() => renameOnce(from, to));
export const unlink = (path: string): Promise<void> => untilFree(() => unlinkOnce(path));
