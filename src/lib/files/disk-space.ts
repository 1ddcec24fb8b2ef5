import { statfs } from 'node:fs/promises';
import { readable } from '../base/byte-size.ts';
import { fail } from '../errors/svc-error.ts';

/** Requires the needed space plus five per cent, so that the work cannot fill the disk. */
export async function requireSpace(folder: string, needBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const wantedBytes = Math.ceil(needBytes * 1.05);
  if (freeBytes < wantedBytes) {
    throw fail('disk_full', {
      path: folder,
      param: folder,
      reason: `${readable(wantedBytes)} are needed, ${readable(freeBytes)} are free`,
    });
  }
}
