import { statSync } from 'node:fs';

/** A younger change may be followed by another within the same tick of the file system's clock. */
const SETTLED_MS = 50;

export interface Stamp {
  readonly text: string;
  readonly isSettled: boolean;
}

/**
 * Null if nothing exists; throws other errors. Blocks for a few microseconds, because an asynchronous stat would cost
 * several times as much.
 */
export function stampNow(path: string): Stamp | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return null;
  const { ino, size, mtimeNs, ctimeNs, ctimeMs } = stats;
  return {
    text: [ino, size, mtimeNs, ctimeNs].join(' '),
    isSettled: Math.abs(Date.now() - Number(ctimeMs)) > SETTLED_MS,
  };
}
