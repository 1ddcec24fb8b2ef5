/** Split GGUF files are named `prefix-00001-of-00003.gguf`. */

export interface ShardName {
  readonly prefix: string;
  readonly index: number;
  readonly count: number;
}

const SHARD = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;
/** A terabyte in shards of four gigabytes; more is a hostile name. */
const MAX_SHARDS = 256;

export function parseShardName(name: string): ShardName | null {
  const [, prefix, index, count] = SHARD.exec(name) ?? [];
  if (prefix === undefined) return null;
  const shard = { prefix, index: Number(index), count: Number(count) };
  const plausible = shard.count >= 1 && shard.count <= MAX_SHARDS && shard.index >= 1;
  return plausible && shard.index <= shard.count ? shard : null;
}

export function shardNames(shard: ShardName): string[] {
  const digits = (value: number) => String(value).padStart(5, '0');
  return Array.from(
    { length: shard.count },
    (_, position) => `${shard.prefix}-${digits(position + 1)}-of-${digits(shard.count)}.gguf`,
  );
}

export function modelStem(fileName: string): string {
  return parseShardName(fileName)?.prefix ?? fileName.replace(/\.gguf$/i, '');
}

const COMPANION = /mmproj|imatrix|^mtp-|^eagle3-|^dflash-|^dspark-/i;
const UNFINISHED = /\.(?:incomplete|downloadInProgress|ipull|tmp|part|etag|lock)$|-partial/i;

export function isProjectorFileName(name: string): boolean {
  return /\.gguf$/i.test(name) && !name.startsWith('.') && /mmproj/i.test(name) && !UNFINISHED.test(name);
}

export function isModelFileName(name: string): boolean {
  return /\.gguf$/i.test(name) && !name.startsWith('.') && !COMPANION.test(name) && !UNFINISHED.test(name);
}
