/** Names of split GGUF files: `prefix-00001-of-00003.gguf` and its siblings. */

export interface ShardName {
  readonly prefix: string;
  /** 1 for the first. */
  readonly index: number;
  readonly count: number;
}

const SHARD = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;
/** A terabyte in shards of four gigabytes; more is a hostile name. */
const MAX_SHARDS = 256;

/** The parts of a shard's file name, or null when it is a plain one. */
export function parseShardName(name: string): ShardName | null {
  const [, prefix, index, count] = SHARD.exec(name) ?? [];
  if (prefix === undefined) return null;
  const shard = { prefix, index: Number(index), count: Number(count) };
  const plausible = shard.count >= 1 && shard.count <= MAX_SHARDS && shard.index >= 1;
  return plausible && shard.index <= shard.count ? shard : null;
}

/** The file names of all shards, first to last. */
export function shardNames(shard: ShardName): string[] {
  const digits = (value: number) => String(value).padStart(5, '0');
  return Array.from(
    { length: shard.count },
    (_, position) => `${shard.prefix}-${digits(position + 1)}-of-${digits(shard.count)}.gguf`,
  );
}

/** Name of a model file without its ending and shard numbers. */
export function modelStem(fileName: string): string {
  return parseShardName(fileName)?.prefix ?? fileName.replace(/\.gguf$/i, '');
}

const COMPANION = /mmproj|imatrix|^mtp-|^eagle3-|^dflash-|^dspark-/i;
const UNFINISHED = /\.(?:incomplete|downloadInProgress|ipull|tmp|part|etag|lock)$|-partial/i;

/** True for a file that could let a model see or hear, by its name alone. */
export function isProjectorFileName(name: string): boolean {
  return /\.gguf$/i.test(name) && !name.startsWith('.') && /mmproj/i.test(name) && !UNFINISHED.test(name);
}

/** True for a file that could be the weights of a model, by its name alone. */
export function isModelFileName(name: string): boolean {
  return /\.gguf$/i.test(name) && !name.startsWith('.') && !COMPANION.test(name) && !UNFINISHED.test(name);
}
