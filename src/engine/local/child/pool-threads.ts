/**
 * Threads that a worker has for native calls: libuv's pool, fixed when the process starts. Pure.
 *
 * llama.cpp creates its threads for every step, and Linux counts a core whose thread mostly sleeps as lightly loaded.
 * Several pool threads that take turns all look like that, so on few cores a new thread often lands on the core of its
 * parent while another core idles. A single one rarely does (bench/LOG.md).
 */
import { MOST_EMBEDDING_CONTEXTS } from '../../../contract/limits.ts';
import type { ModelKind } from '../../../contract/load.ts';

const FEW_CORES = 2;
/** What libuv takes when nothing is said. */
const USUAL = 4;

export function poolThreads(kind: ModelKind, cores: number): number {
  if (kind === 'chat' && cores <= FEW_CORES) return 1;
  // An embedding model computes several inputs at once, one in each thread.
  return Math.max(USUAL, Math.min(cores, MOST_EMBEDDING_CONTEXTS));
}
