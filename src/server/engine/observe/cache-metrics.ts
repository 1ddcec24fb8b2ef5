import type { CacheTiers, TierFacts } from '../../../contract/slots.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { missReason } from '../../../contract/prompt-difference.ts';
import { CacheMissReason, type JobEvent } from '../../../contract/job-event.ts';
import type { ResidencyStatus } from '../ports.ts';
import { beginAtZero } from './per-model.ts';

const RESTORE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Started = Extract<JobEvent, { type: 'started' }>;

interface CacheCounter {
  onLoad(model: string): void;
  onStarted(started: Started, model: string): void;
}

const ORIGINS = ['slot', 'ram', 'disk', 'evaluated'] as const;
const MISSES = CacheMissReason.anyOf.map(({ const: reason }) => reason);

export function cacheCounter(registry: Registry): CacheCounter {
  const registers = [registry];
  const tokens = new Counter({
    name: 'hearth_prompt_cache_tokens_total',
    help: 'Prompt tokens by where their state came from: slot, ram, disk, or evaluated.',
    labelNames: ['origin', 'model'],
    registers,
  });
  const hits = new Counter({
    name: 'hearth_prompt_cache_hits_total',
    help: 'Prompts of which nothing that was known was evaluated again.',
    labelNames: ['model'],
    registers,
  });
  const misses = new Counter({
    name: 'hearth_prompt_cache_misses_total',
    help: 'Prompts that were evaluated although a cache is kept, by reason.',
    labelNames: ['reason', 'model'],
    registers,
  });
  const restore = new Histogram({
    name: 'hearth_prompt_cache_restore_seconds',
    help: 'Time to bring state back from memory or disk.',
    labelNames: ['model'],
    buckets: RESTORE_BUCKETS,
    registers,
  });
  const onLoad = (model: string): void => {
    beginAtZero(tokens, { model }, { origin: ORIGINS });
    beginAtZero(hits, { model });
    beginAtZero(misses, { model }, { reason: MISSES });
  };
  const onStarted = (started: Started, model: string): void => {
    for (const [origin, count] of Object.entries(tokenOrigins(started)))
      if (count > 0) tokens.inc({ origin, model }, count);
    const { cache } = started;
    if (cache !== undefined && cache.restoreMs > 0) restore.observe({ model }, cache.restoreMs / 1000);
    const reason = missReason(started);
    if (reason !== null) misses.inc({ reason, model });
    else if (started.cachedTokens > 0) hits.inc({ model });
  };
  return { onLoad, onStarted };
}

function tokenOrigins({
  promptTokens,
  cachedTokens,
  cache,
}: Started): Readonly<Record<(typeof ORIGINS)[number], number>> {
  return {
    slot: cache?.slotTokens ?? cachedTokens,
    ram: cache?.ramTokens ?? 0,
    disk: cache?.diskTokens ?? 0,
    evaluated: promptTokens - cachedTokens,
  };
}

const listTiers = ({ ram, disk }: CacheTiers): [tier: string, TierFacts][] => [
  ...(ram === null ? [] : [['ram', ram] as [string, TierFacts]]),
  ...(disk === null ? [] : [['disk', disk] as [string, TierFacts]]),
];

/** The returned function must run before a model is removed, so that its last evictions are counted. */
export function addTierMetrics(
  registry: Registry,
  residencies: () => readonly ResidencyStatus[],
): { onGone(modelId: string): void } {
  const registers = [registry];
  const perTier = (name: string, help: string, pick: (tier: TierFacts) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['model', 'tier'],
      registers,
      collect() {
        this.reset();
        for (const { modelId: model, cache } of residencies()) {
          if (cache === undefined) continue;
          for (const [tier, facts] of listTiers(cache)) this.set({ model, tier }, pick(facts));
        }
      },
    });
  perTier(
    'hearth_prompt_cache_bytes',
    'Prompt state that a loaded model keeps outside its slots, by tier: ram, disk.',
    ({ bytes }) => bytes,
  );
  perTier(
    'hearth_prompt_cache_limit_bytes',
    'What a tier may hold; the limit of the disk is for all models together.',
    ({ limitBytes }) => limitBytes,
  );
  const counted = new Map<string, Readonly<Record<string, number>>>();
  const evictions = new Counter({
    name: 'hearth_prompt_cache_evictions_total',
    help: 'States that gave way to others, by tier: slot, ram, disk.',
    labelNames: ['model', 'tier'],
    registers,
    collect() {
      for (const item of residencies()) count(item);
    },
  });
  const count = ({ modelId: model, cache }: ResidencyStatus): void => {
    if (cache === undefined) return;
    const before = counted.get(model) ?? {};
    const now = evictionCounts(cache);
    for (const [tier, total] of Object.entries(now))
      evictions.inc({ model, tier }, Math.max(0, total - (before[tier] ?? 0)));
    counted.set(model, now);
  };
  return {
    onGone: (modelId) => {
      for (const item of residencies()) if (item.modelId === modelId) count(item);
      counted.delete(modelId);
    },
  };
}

function evictionCounts(cache: CacheTiers): Record<string, number> {
  const tiers = listTiers(cache).map(([tier, { evictions }]) => [tier, evictions]);
  return Object.fromEntries([['slot', cache.slotEvictions], ...tiers]) as Record<string, number>;
}
