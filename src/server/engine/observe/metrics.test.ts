import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/base/clock.ts';
import type { ResidencyStatus } from '../ports.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { createMetrics } from './metrics.ts';

const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 3, reasoningTokens: 0 };
const watched = {
  jobId: 'j',
  kind: 'generate',
  modelId: 'm',
  clientName: '',
  isFrozen: false,
} as const;
const loaded: ResidencyStatus = {
  modelId: 'm',
  kind: 'chat',
  engine: 'local',
  state: 'ready',
  facts: null,
  planned: [{ device: 'CPU', bytes: 1000 }],
  running: 2,
  queued: 3,
  expiresAtMs: null,
  sinceMs: 0,
  lastUsedMs: 0,
  evictionRank: 1,
};

const newMetrics = () => createMetrics({ clock: systemClock, version: '1.2.3', residencies: () => [loaded] });

const labelsOf = (line: string) => /^(\w+)\{(.*)\}/.exec(line);

/** Labels have no order. */
function sameSeries(one: string, other: string): boolean {
  const [a, b] = [one, other].map((line) => {
    const [, name, labels = ''] = labelsOf(line) ?? [];
    return [name, ...labels.split(',').toSorted()].join(' ');
  });
  return a === b;
}

describe('metrics', () => {
  it('tells processor time, memory and start of the server process', async () => {
    const text = await newMetrics().render();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(text).toContain('# TYPE process_cpu_seconds_total counter');
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6);
    expect(value('process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('counts tokens by type and the time of a complete job', async () => {
    const metrics = newMetrics();
    const job = metrics.watchJob(watched);
    job.onEvent({ type: 'started', promptTokens: 10, cachedTokens: 4, numCtx: 512 });
    job.onEvent({ type: 'text', text: 'a' });
    job.onEvent({ type: 'text', text: 'b' });
    job.onEvent({ type: 'done', finishReason: 'stop', usage, timings: { prefillMs: 1, decodeMs: 60 } });
    job.onEnd(null);
    const text = await metrics.render();
    expect(text).toContain(
      'gen_ai_server_tokens_total{gen_ai_token_type="cached_input",gen_ai_request_model="m"} 4',
    );
    expect(text).toContain(
      'gen_ai_server_tokens_total{gen_ai_token_type="input",gen_ai_request_model="m"} 6',
    );
    const labels = '{gen_ai_operation_name="chat",gen_ai_request_model="m"}';
    expect(text).toContain(`gen_ai_server_time_per_output_token_seconds_sum${labels} 0.02`);
    expect(text).toContain(`hearth_queue_wait_seconds_count${labels} 1`);
    expect(text).toMatch(/time_to_first_token_seconds_count\{[^}]*\} 1/);
    expect(text).toMatch(/request_duration_seconds_count\{[^}]*error_type=""[^}]*\} 1/);
    expect(text).toContain('hearth_build_info{version="1.2.3"} 1');
  });

  it('counts prompt tokens by where they came from, and prompts by why they were evaluated', async () => {
    const metrics = newMetrics();
    const begin = (event: object) => {
      const started = { type: 'started', promptTokens: 10, cachedTokens: 6, numCtx: 512, ...event } as const;
      metrics.watchJob(watched).onEvent(started);
    };
    const origins = { slotTokens: 1, ramTokens: 2, diskTokens: 3, restoreMs: 40 };
    const near = { commonTokens: 6, wanted: [], held: [], before: 0 };
    const difference = { token: 6, shared: '', before: '', now: '' };
    begin({ cache: origins });
    begin({ cache: { ...origins, miss: { reason: 'damaged', ...near } } });
    begin({
      cache: { ...origins, miss: { reason: 'differs', ...near } },
      earlier: { commonTokens: 6, difference },
    });
    begin({ cachedTokens: 0 });
    const text = await metrics.render();
    for (const [origin, count] of Object.entries({ slot: 3, ram: 6, disk: 9, evaluated: 22 }))
      expect(text).toContain(`hearth_prompt_cache_tokens_total{origin="${origin}",model="m"} ${count}`);
    expect(text).toContain('hearth_prompt_cache_hits_total{model="m"} 1');
    for (const reason of ['damaged', 'differs'])
      expect(text).toContain(`hearth_prompt_cache_misses_total{reason="${reason}",model="m"} 1`);
    expect(text).toContain('hearth_prompt_cache_restore_seconds_sum{model="m"} 0.12');
  });

  it('tells how many KV cells a model has and uses, where that is told', async () => {
    const facts = { numCtx: 64, slots: 2, cells: 128, memory: [] };
    let present: ResidencyStatus[] = [{ ...loaded, facts, cellsUsed: 40 }];
    const metrics = createMetrics({ clock: systemClock, version: '', residencies: () => present });
    expect(await metrics.render()).toContain('hearth_model_kv_cells_used{model="m"} 40');
    present = [{ ...loaded, facts }];
    const text = await metrics.render();
    expect(text).toContain('hearth_model_kv_cells{model="m"} 128');
    expect(text).not.toContain('hearth_model_kv_cells_used{');
  });

  it('counts what gave way by tier, over loads, also what nobody asked for before the model left', async () => {
    const tier = { bytes: 10, limitBytes: 100, tokens: 5, evictions: 3, restoredTokens: 0 };
    const cache = { slotEvictions: 7, ram: tier, disk: null, restores: 0, restoreMs: 0 };
    let present: ResidencyStatus[] = [{ ...loaded, cache }];
    const metrics = createMetrics({ clock: systemClock, version: '', residencies: () => present });
    expect(await metrics.render()).toContain('hearth_prompt_cache_evictions_total{model="m",tier="slot"} 7');
    present = [{ ...loaded, cache: { ...cache, slotEvictions: 9 } }];
    metrics.onGone?.('m', null);
    present = [{ ...loaded, cache: { ...cache, slotEvictions: 1, ram: { ...tier, evictions: 0 } } }];
    const text = await metrics.render();
    expect(text).toContain('hearth_prompt_cache_evictions_total{model="m",tier="slot"} 10');
    expect(text).toContain('hearth_prompt_cache_evictions_total{model="m",tier="ram"} 3');
    expect(text).toContain('hearth_prompt_cache_bytes{model="m",tier="ram"} 10');
    expect(text).toContain('hearth_prompt_cache_limit_bytes{model="m",tier="ram"} 100');
    expect(text).not.toContain('tier="disk"');
    present = [];
    expect(await metrics.render()).not.toContain('hearth_prompt_cache_bytes{');
  });

  it.each([
    ['hearth_worker_ends_total{model="m",cause="unexpected"}'],
    ['hearth_worker_ends_total{model="m",cause="asked"}'],
    ['hearth_draft_tokens_total{model="m",outcome="accepted"}'],
    ['hearth_prompt_cache_tokens_total{origin="disk",model="m"}'],
    ['hearth_prompt_cache_hits_total{model="m"}'],
    ['hearth_prompt_cache_misses_total{reason="evicted",model="m"}'],
    ['gen_ai_server_tokens_total{gen_ai_request_model="m",gen_ai_token_type="output"}'],
  ])('begins at zero with the load of its model: %s', async (series) => {
    const metrics = newMetrics();
    metrics.onLoad?.({ modelId: 'm', ms: 1, failure: null });
    const value = async () => (await metrics.render()).split('\n').filter((line) => sameSeries(line, series));
    expect(await value()).toEqual([expect.stringMatching(/ 0$/)]);
    metrics.onGone?.('m', 'signal SIGSEGV');
    const isCrash = series.includes('unexpected');
    expect(await value()).toEqual([expect.stringMatching(isCrash ? / 1$/ : / 0$/)]);
  });

  it('names the failure of a job', async () => {
    const metrics = newMetrics();
    metrics.watchJob(watched).onEnd(fail('queue_full', { limit: 1, retryAfterS: 1 }));
    expect(await metrics.render()).toMatch(
      /request_duration_seconds_count\{[^}]*error_type="queue_full"[^}]*\} 1/,
    );
  });

  it('reads what is loaded when it is asked', async () => {
    const text = await newMetrics().render();
    expect(text).toMatch(/^hearth_requests_processing 2$/m);
    expect(text).toMatch(/^hearth_requests_deferred 3$/m);
    expect(text).toMatch(/^hearth_model_slots\{model="m"\} 0$/m);
    expect(text).toMatch(/^hearth_model_slots_busy\{model="m"\} 2$/m);
    expect(text).toMatch(/^hearth_model_queued\{model="m"\} 3$/m);
    expect(text).toMatch(/^hearth_models_loaded 1$/m);
    expect(text).toMatch(/^hearth_models_resident_bytes 1000$/m);
    expect(text).toMatch(/^hearth_models_planned_bytes\{device="CPU"\} 1000$/m);
    expect(text).not.toMatch(/^hearth_models_measured_bytes\{/m);
  });

  it('counts loads, how models left, drafts, and requests that were refused', async () => {
    const metrics = newMetrics();
    metrics.onLoad?.({ modelId: 'm', ms: 1500, failure: null });
    metrics.onLoad?.({ modelId: 'm', ms: 100, failure: 'out_of_memory' });
    metrics.onGone?.('m', 'signal SIGKILL');
    metrics.onGone?.('m', null);
    const drafts = { drafted: 10, accepted: 4 };
    const job = metrics.watchJob(watched);
    job.onEvent({
      type: 'done',
      finishReason: 'stop',
      usage,
      timings: { prefillMs: 1, decodeMs: 60, drafts },
    });
    metrics.countRequest({ route: '/v1/models', status: 401, error: 'unauthorized', wasAdmitted: false });
    metrics.countRequest({ route: '/v1/x', status: 500, error: 'worker_crashed', wasAdmitted: true });
    const text = await metrics.render();
    expect(text).toContain('hearth_model_load_seconds_sum{model="m",outcome="loaded"} 1.5');
    expect(text).toContain('hearth_model_load_seconds_count{model="m",outcome="out_of_memory"} 1');
    expect(text).toContain('hearth_worker_ends_total{model="m",cause="unexpected"} 1');
    expect(text).toContain('hearth_draft_tokens_total{model="m",outcome="accepted"} 4');
    expect(text).toContain('hearth_refusals_total{code="unauthorized"} 1');
    expect(text).not.toContain('hearth_refusals_total{code="worker_crashed"}');
    expect(text).toContain('hearth_http_requests_total{route="/v1/models",status="401"} 1');
    expect(text).toContain('hearth_model_bytes{model="m",device="CPU",part="planned"} 1000');
    expect(metrics.describe().find(({ name }) => name === 'hearth_refusals_total')).toMatchObject({
      type: 'counter',
      labels: ['code'],
    });
  });

  it('tells how late the event loop was while jobs were open, and not how long there were none', async () => {
    let nowMs = 0;
    let fire: () => void = () => {};
    let waitMs = 0;
    const after = (delayMs: number, callback: () => void) => {
      waitMs = delayMs;
      fire = callback;
      return () => (fire = () => {});
    };
    const clock = { ...systemClock, monotonicMs: () => nowMs, after };
    const metrics = createMetrics({ clock, version: '1.2.3', residencies: () => [] });
    const late = async () =>
      Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await metrics.render())?.[1]);
    const look = (lateMs: number) => {
      nowMs += waitMs + lateMs;
      fire();
    };
    const first = metrics.watchJob(watched);
    look(0);
    look(130);
    look(0);
    first.onEnd(null);
    nowMs += 60_000;
    fire();
    const second = metrics.watchJob(watched);
    look(0);
    expect(await late()).toBeCloseTo(0.13);
    expect(await late()).toBe(0);
    // The last look is overdue when the job ends.
    nowMs += waitMs + 40;
    second.onEnd(null);
    expect(await late()).toBeCloseTo(0.04);
  });
});
