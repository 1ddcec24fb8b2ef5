import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { Config } from '../config/config.ts';
import { settings } from '../config/settings.ts';
import { readable } from '../lib/base/byte-size.ts';
import { cachedKinds, cacheFolder } from '../lib/files/cache-folder.ts';

/** The state of a few dozen tokens of a small model is larger. */
const LEAST_BYTES = 1024 ** 2;

interface Room {
  readonly diskBytes: number;
  readonly ramBytes: number;
}

/** One sentence for each size that cannot have the effect that it promises. */
export async function sizeWarnings(config: Config): Promise<string[]> {
  return oddSizes(config, { diskBytes: await diskRoom(config.home), ramBytes: totalmem() });
}

export function oddSizes(
  { cacheRam, cacheDisk }: Pick<Config, 'cacheRam' | 'cacheDisk'>,
  { diskBytes, ramBytes }: Room,
): string[] {
  return [
    ...odd(settings.cacheRam.env, cacheRam, { bytes: ramBytes, where: 'memory of this machine' }),
    ...odd(settings.cacheDisk.env, cacheDisk, { bytes: diskBytes, where: 'free space of its disk' }),
  ];
}

function odd(name: string, limit: number | null, room: { readonly bytes: number; readonly where: string }) {
  if (limit === null || limit === 0) return [];
  if (limit < LEAST_BYTES)
    return [`${name}=${readable(limit)} is too small for the state of any prompt; set 512MiB or more, or 0.`];
  if (limit <= room.bytes) return [];
  return [
    `${name}=${readable(limit)} exceeds the ${room.where} (${readable(room.bytes)}); set a smaller limit.`,
  ];
}

/** Files of the cache may be replaced, so their space counts as free. */
async function diskRoom(home: string): Promise<number> {
  const found = await statfs(home).catch(() => null);
  if (found === null) return Infinity;
  const kinds = await cachedKinds(cacheFolder(home));
  const used = kinds.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0);
  return found.bavail * found.bsize + used;
}
