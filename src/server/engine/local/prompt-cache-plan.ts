/**
 * Prompt cache of a load: its memory and disk limits, and the key of its states, so that a worker finds its own
 * states and no others.
 */
import { access, constants, statfs } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import type { PromptCacheSpec } from '../../../contract/load.ts';
import { kindName } from '../../../lib/prompt-cache/kind.ts';
import { cacheFolder } from '../../../lib/files/cache-folder.ts';
import { makeFolder } from '../../../lib/files/durable.ts';
import { type LocalSource, settingsKey } from './model-source.ts';
import { freeMemoryBytes } from './memory/free-memory.ts';

export type PromptCachePlan = (source: LocalSource) => PromptCacheSpec;

export interface PromptCacheOptions {
  readonly home: string;
  readonly ramBytes: number | null;
  readonly diskBytes: number | null;
  readonly secret: string;
  readonly gpu: string;
  backendSha256(): string | null;
}

const GIB = 1024 ** 3;
/** Chosen: an eighth of free memory leaves room for other models and programs. */
const RAM_DEFAULT = { share: 1 / 8, mostBytes: 4 * GIB };
const DISK_DEFAULT = { share: 1 / 10, mostBytes: 16 * GIB };
/** A smaller tier cannot hold even one useful prompt. */
const LEAST_BYTES = 1024 * 1024;

export async function createPromptCachePlan(options: PromptCacheOptions): Promise<PromptCachePlan> {
  const folder = cacheFolder(options.home);
  const wanted = options.diskBytes ?? (await usualDiskBytes(options.home));
  const diskBytes = wanted >= LEAST_BYTES && (await canWrite(folder)) ? wanted : 0;
  // Kernels differ between machines, and so do the last digits of their results.
  const machine = `${cpus()[0]?.model ?? 'unknown'} ${availableParallelism()} ${options.gpu}`;
  return (source) => {
    const backend = options.backendSha256();
    const { digest, attached } = source;
    // Neither window nor slots: a state does not depend on them (worker/batch/open-tiers.ts).
    const belongsTo = [digest, backend, machine, settingsKey(source), attached.adapters.length];
    const isKnown = digest !== null && backend !== null && diskBytes > 0;
    const kind = isKnown ? kindName(digest, belongsTo) : '';
    return {
      ramBytes: options.ramBytes ?? usualRamBytes(),
      disk: isKnown ? { folder, bytes: diskBytes, kind, secret: options.secret } : null,
    };
  };
}

/** A read-only home stores nothing; that is not an error. */
async function canWrite(folder: string): Promise<boolean> {
  return makeFolder(folder).then(
    () =>
      access(folder, constants.W_OK).then(
        () => true,
        () => false,
      ),
    () => false,
  );
}

function usualRamBytes(): number {
  return Math.floor(Math.min(RAM_DEFAULT.mostBytes, freeMemoryBytes() * RAM_DEFAULT.share));
}

async function usualDiskBytes(home: string): Promise<number> {
  const found = await statfs(home).catch(() => null);
  if (found === null) return 0;
  return Math.floor(Math.min(DISK_DEFAULT.mostBytes, found.bavail * found.bsize * DISK_DEFAULT.share));
}
