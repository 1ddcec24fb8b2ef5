/** Windows refuses to rename or remove a file while another program has it open, as a virus scanner does for a moment. */
import { rename as renameOnce, unlink as unlinkOnce } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses before each further try; 1.3 seconds in all. */
const PAUSES_MS = [10, 20, 40, 80, 160, 320, 640];
/** EPERM and EACCES also mean missing rights, which waiting does not fix; the last try reports them. */
const BUSY = ['EBUSY', 'EPERM', 'EACCES'];

interface Waiting {
  /** As `process.platform` names it. */
  readonly platform: string;
  pause(ms: number): Promise<unknown>;
}

const ofThisSystem: Waiting = { platform: process.platform, pause: delay };

/** Tries again while the file is busy, on Windows; the failure of the last try is thrown unchanged. */
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
