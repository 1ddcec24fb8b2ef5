/** Figures of the prompt cache: where prompt tokens came from, and why they were evaluated. */
import { Counter, Histogram, type Registry } from '#prom-client';
import { missOf } from '../../contract/prompt-difference.ts';
import type { JobEvent } from '../../contract/job-event.ts';

const RESTORE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Started = Extract<JobEvent, { type: 'started' }>;

export function cacheCounter(registry: Registry): (started: Started, model: string) => void {
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
  return (started, model) => {
    for (const [origin, count] of Object.entries(originsOf(started)))
      if (count > 0) tokens.inc({ origin, model }, count);
    const { cache } = started;
    if (cache !== undefined && cache.restoreMs > 0) restore.observe({ model }, cache.restoreMs / 1000);
    const reason = missOf(started);
    if (reason !== null) misses.inc({ reason, model });
    else if (started.cachedTokens > 0) hits.inc({ model });
  };
}

function originsOf({ promptTokens, cachedTokens, cache }: Started): Readonly<Record<string, number>> {
  return {
    slot: cache?.slotTokens ?? cachedTokens,
    ram: cache?.ramTokens ?? 0,
    disk: cache?.diskTokens ?? 0,
    evaluated: promptTokens - cachedTokens,
  };
}
