import { statfs } from 'node:fs/promises';
import { fail } from '../errors/svc-error.ts';

/** Refuses work that would fill the disk: what is needed plus five per cent must be free in the folder. */
export async function requireSpace(folder: string, needBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const wantedBytes = Math.ceil(needBytes * 1.05);
  if (freeBytes < wantedBytes)
    throw fail('disk_full', {
      path: folder,
      param: folder,
      reason: `${readable(wantedBytes)} are needed, ${readable(freeBytes)} are free`,
    });
}

export function readable(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`;
}
