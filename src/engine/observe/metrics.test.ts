import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/base/clock.ts';
import type { Engine, Submission } from '../ports.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { createMetrics } from './metrics.ts';

const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 3, reasoningTokens: 0 };
const submission = { job: { kind: 'generate' }, target: { modelId: 'm' } } as unknown as Submission;

function engineOf(play: () => AsyncIterable<JobEvent>): Engine {
  return {
    submit: play,
    residencies: () => [],
    plan: () => ({ plannedBytes: 0, slots: 1, loaded: false, evicts: [] }),
    unload: async () => false,
    drain: async () => {},
  };
}

async function drainQuietly(events: AsyncIterable<JobEvent>): Promise<void> {
  try {
    for await (const _ of events);
  } catch {
    // The outcome is read from the metrics.
  }
}

describe('metrics', () => {
  it('tells processor time, memory and start of the server process', async () => {
    const text = await createMetrics(systemClock, '1.2.3').render();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(text).toContain('# TYPE process_cpu_seconds_total counter');
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6);
    expect(value('process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('counts tokens by type and the time of a complete job', async () => {
    const metrics = createMetrics(systemClock, '1.2.3');
    const engine = metrics.observe(
      engineOf(async function* () {
        yield { type: 'text', text: 'a' };
        yield { type: 'done', finishReason: 'stop', usage, timings: { prefillMs: 1, decodeMs: 1 } };
      }),
    );
    await drainQuietly(engine.submit(submission, new AbortController().signal));
    const text = await metrics.render();
    expect(text).toContain(
      'gen_ai_server_tokens_total{gen_ai_token_type="cached_input",gen_ai_request_model="m"} 4',
    );
    expect(text).toContain(
      'gen_ai_server_tokens_total{gen_ai_token_type="input",gen_ai_request_model="m"} 6',
    );
    expect(text).toMatch(/time_to_first_token_seconds_count\{[^}]*\} 1/);
    expect(text).toMatch(/request_duration_seconds_count\{[^}]*error_type=""[^}]*\} 1/);
    expect(text).toContain('hearth_build_info{version="1.2.3"} 1');
  });

  it('names the failure of a job', async () => {
    const metrics = createMetrics(systemClock, '1');
    const engine = metrics.observe(
      // oxlint-disable-next-line require-yield -- a job that fails before its first event
      engineOf(async function* () {
        throw fail('queue_full', { limit: 1, retryAfterS: 1 });
      }),
    );
    await drainQuietly(engine.submit(submission, new AbortController().signal));
    expect(await metrics.render()).toMatch(
      /request_duration_seconds_count\{[^}]*error_type="queue_full"[^}]*\} 1/,
    );
  });
});
