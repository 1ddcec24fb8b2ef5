import { describe, expect, it } from 'vitest';
import type { EngineState } from '../wire/operation/engine-state.ts';
import { engineView } from './top-view.ts';

const nowMs = 1_000_000;
const state: EngineState = {
  at_ms: nowMs,
  boot_id: 'b',
  started_ms: nowMs - 7_200_000,
  queued: 1,
  last_request: 0,
  recording: { kept: 200 },
  clients: [{ client: 'agent', queued: 1, running: 2 }],
  upstreams: {
    box: {
      privacy: 'lan',
      state: 'busy',
      why: 'it has too much to do',
      until_ms: nowMs + 3_000,
      in_flight: 2,
      first_token_ms: 80.4,
      requests: 1200,
      failures: { connect: 2, timeout: 1 },
      spills: 0,
      affinity_hits: 0,
      failovers: 0,
      resumptions: 0,
    },
  },
  devices: { CPU: { total_bytes: 10e9, free_bytes: 4e9, reserve_bytes: 0 } },
  jobs: {
    a: { model: 'm', kind: 'generate', state: 'running', client: 'agent', submitted_ms: 1 },
    b: { model: 'm', kind: 'generate', state: 'running', submitted_ms: 1 },
    c: {
      model: 'm',
      kind: 'generate',
      state: 'queued',
      client: 'agent\u001b[2J',
      submitted_ms: nowMs - 4_000,
      position: 1,
      reason: 'waiting for a slot of model m',
    },
  },
  models: {
    m: {
      kind: 'chat',
      engine: 'local',
      state: 'ready',
      since_ms: 1,
      last_used_ms: 1,
      eviction: { rank: 1, reason: 'busy: its answers would be finished first' },
      num_ctx: 1000,
      threads: 2,
      running: 2,
      queued: 1,
      memory: {
        CPU: {
          planned_bytes: 6e9,
          measured_bytes: 5.5e9,
          weights_bytes: 3e9,
          kv_bytes: 2e9,
          compute_bytes: 0,
        },
      },
      cache: {
        slot_evictions: 4,
        disk: {
          bytes: 1e9,
          limit_bytes: 16e9,
          tokens: 9,
          evictions: 1,
          restored_tokens: 3,
          others_bytes: 5e8,
        },
        restores: 2,
        restore_ms: 41,
      },
      slots: {
        0: {
          kept_tokens: 600,
          job_id: 'a',
          phase: 'decode',
          prompt_tokens: 500,
          cached_tokens: 250,
          evaluated_tokens: 500,
          written_tokens: 100,
          drafted_tokens: 40,
          accepted_tokens: 30,
          tokens_per_s: 21.25,
        },
        1: {
          kept_tokens: 100,
          job_id: 'b',
          phase: 'prefill',
          prompt_tokens: 1000,
          cached_tokens: 0,
          evaluated_tokens: 500,
          written_tokens: 0,
        },
        2: { kept_tokens: 500 },
        3: { kept_tokens: 0 },
      },
    },
  },
};

describe('the view of the engine', () => {
  const lines = engineView(state, { url: 'http://x', nowMs, width: 200 });
  const line = (word: string): string => lines.find((each) => each.includes(word)) ?? '';

  it('tells what each slot does', () => {
    expect(lines[0]).toBe('Hearth at http://x   up 2 h   2 running   1 waiting   21.3 tokens/s');
    expect(line('decode')).toBe(
      '   0  ▓▓▓▓▓▓█████████           decode    500 in, 100 out   21.3 t/s   30 of 40 drafts   agent',
    );
    expect(line('prefill')).toBe('   1  ████████████░░░░░░░░░░░░  prefill   500 of 1,000, 0 cached');
    expect(line('idle ')).toBe('   2  ············              idle      500 tokens kept');
    expect(line('free')).toContain('free');
  });

  it('tells the memory by what it is for, and who waits', () => {
    expect(line('CPU')).toBe(
      'CPU  ██████████████▓░░░░░░░░░  models 5.1 GiB (weights 2.8 GiB, KV cache 1.9 GiB, worker 476.8 MiB), planned 5.6 GiB, free 3.7 GiB of 9.3 GiB',
    );
    expect(line('Waiting')).toBe('Waiting: agent 1');
    expect(line('4 s')).toBe('   1  4 s   waiting for a slot of model m   agent\ufffd[2J');
  });

  it('tells in the words of the page which model is unloaded next', () => {
    expect(line('next to unload')).toContain('next to unload (busy: its answers would be finished first)');
  });

  it('tells what is kept beside the slots, and who answers elsewhere', () => {
    expect(line('cache   ')).toBe(
      '   cache   disk 953.7 MiB (all models 1.4 GiB of 14.9 GiB)   2 brought back in 41 ms   5 evicted',
    );
    expect(line('box')).toBe(
      '   box   busy for 3 s (it has too much to do)   lan   2 from here   first token 80 ms   1,200 requests   3 failed',
    );
  });

  it('has a unit that fits a small model', () => {
    const CPU = { planned_bytes: 61e6, measured_bytes: 57_400_000, weights_bytes: 4_500_000 };
    const small = { ...state, models: { s: { ...state.models['m'], memory: { CPU } } } } as EngineState;
    const text = engineView(small, { url: 'http://x', nowMs, width: 200 }).join('\n');
    expect(text).toContain(
      'models 54.7 MiB (weights 4.3 MiB, worker 50.4 MiB), planned 58.2 MiB, free 3.7 GiB',
    );
  });

  it('has no line that is wider than the terminal', () => {
    const narrow = engineView(state, { url: 'http://x', nowMs, width: 30 });
    expect(Math.max(...narrow.map(({ length }) => length))).toBe(30);
  });
});
