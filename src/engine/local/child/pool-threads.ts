/**
 * Threads that a worker has for native calls (libuv's pool, fixed when the process starts). Pure.
 *
 * The engine makes its own threads anew for every step, and Linux puts a new thread beside the one that makes it
 * when that one seems lightly loaded while every core is busy for the moment. With several threads in the pool, each
 * makes a few of the steps and seems so: on two cores every seventh step then ran on one core for 11 ms, while the
 * other idled. With a single one hardly any did (measured, bench/LOG.md).
 */
import type { ModelKind } from '../../../contract/load.ts';

const FEW_CORES = 2;
/** What libuv takes when nothing is said. */
const USUAL = 4;
/** An embedding model computes several inputs at once, one in each. */
const MOST = 8;

export function poolThreads(kind: ModelKind, cores: number): number {
  if (kind === 'chat' && cores <= FEW_CORES) return 1;
  return Math.max(USUAL, Math.min(cores, MOST));
}
