/** Prompt state that all models keep outside their slots. */
import type { EngineState } from '../../../src/wire/operation/engine-state.ts';

export interface TierReading {
  readonly name: 'memory' | 'disk';
  readonly bytes: number;
  readonly limitBytes: number;
  readonly tokens: number;
}

export interface CacheReading {
  readonly tiers: readonly TierReading[];
  /** Restored states since the loads, and their total time. */
  readonly restores: number;
  readonly restoreMs: number;
  readonly evictions: number;
}

/** Each model has its own memory for it, and all share one disk limit. */
export function cacheReading({ models }: EngineState): CacheReading {
  const caches = Object.values(models).flatMap(({ cache }) => cache ?? []);
  const rams = caches.flatMap(({ ram }) => ram ?? []);
  const disks = caches.flatMap(({ disk }) => disk ?? []);
  const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
  const tiers: TierReading[] = [];
  if (rams.length > 0) {
    tiers.push({
      name: 'memory',
      bytes: sum(rams.map(({ bytes }) => bytes)),
      limitBytes: sum(rams.map(({ limit_bytes: limit }) => limit)),
      tokens: sum(rams.map(({ tokens }) => tokens)),
    });
  }
  if (disks.length > 0) {
    tiers.push({
      name: 'disk',
      // Each model knows only the state of the others at its last look.
      bytes: Math.max(...disks.map(({ bytes, others_bytes: others }) => bytes + others)),
      limitBytes: Math.max(...disks.map(({ limit_bytes: limit }) => limit)),
      tokens: sum(disks.map(({ tokens }) => tokens)),
    });
  }
  return {
    tiers,
    restores: sum(caches.map(({ restores }) => restores)),
    restoreMs: sum(caches.map(({ restore_ms: ms }) => ms)),
    evictions: sum([
      ...caches.map(({ slot_evictions: evictions }) => evictions),
      ...[...rams, ...disks].map(({ evictions }) => evictions),
    ]),
  };
}
