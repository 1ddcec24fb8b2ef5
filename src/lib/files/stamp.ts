/** Detects by stat whether a file or folder of the home has changed since it was read. */
import { statSync } from 'node:fs';

/** Something changed more recently than this may change again within the same tick of the file system's clock. */
const SETTLED_MS = 50;

/** A file or folder at one moment: while `text` stays the same and is settled, so does the content. */
export interface Stamp {
  readonly text: string;
  readonly isSettled: boolean;
}

/**
 * Null where nothing is; throws what the file system says otherwise. It blocks for some microseconds, where the way to
 * another thread and back takes a request several times as long.
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
