import { describe, expect, it } from 'vitest';
import type { EngineState, ModelView } from '../../src/wire/operation/engine-state.ts';
import {
  apartOf,
  cachedShare,
  lanesOf,
  medianFirst,
  memoryOf,
  nextToGo,
  scaleOf,
  tokensBetween,
} from './reading.ts';

const model = (slots: ModelView['slots'], more: Partial<ModelView> = {}): ModelView => ({
  kind: 'chat',
  engine: 'local',
  state: 'ready',
  since_ms: 0,
  last_used_ms: 0,
  running: 0,
  queued: 0,
  num_ctx: 8192,
  memory: {},
  slots,
  ...more,
});
const state = (models: EngineState['models'], more: Partial<EngineState> = {}): EngineState => ({
  at_ms: 0,
  boot_id: 'b',
  started_ms: 0,
  models,
  jobs: {},
  queued: 0,
  clients: [],
  devices: {},
  upstreams: {},
  last_request: 0,
  recording: { kept: 200 },
  ...more,
});

describe('lanes', () => {
  const slots: ModelView['slots'] = {
    '10': { kept_tokens: 0 },
    '2': { kept_tokens: 700 },
    '0': {
      kept_tokens: 0,
      job_id: 'j',
      phase: 'prefill',
      prompt_tokens: 400,
      cached_tokens: 100,
      evaluated_tokens: 250,
      tokens_per_s: 300,
    },
    '1': {
      kept_tokens: 0,
      job_id: 'k',
      phase: 'decode',
      prompt_tokens: 50,
      cached_tokens: 20,
      written_tokens: 30,
      accepted_tokens: 4,
    },
  };
  const jobs: EngineState['jobs'] = {
    j: { model: 'm', kind: 'generate', state: 'running', client: 'editor', submitted_ms: 0 },
    k: { model: 'm', kind: 'generate', state: 'running', frozen: true, submitted_ms: 0 },
  };

  it('say in words what the bar shows, in the order of the slots', () => {
    const lanes = lanesOf(model(slots), jobs);
    expect(lanes.map(({ number, kind }) => [number, kind])).toEqual([
      ['0', 'prefill'],
      ['1', 'decode'],
      ['2', 'kept'],
      ['10', 'free'],
    ]);
    expect(lanes.map(({ doing }) => doing)).toEqual([
      'prefill 250 of 400 · 500 ms left',
      '20 reused · 30 prefilled · 30 generated, 4 of them drafted',
      '700 tokens kept for a follow-up',
      'free',
    ]);
    expect(lanes[0]).toMatchObject({
      client: 'editor',
      trace: { cached: 100, prefilled: 150, generated: 0, room: 1024 },
    });
    expect(lanes[1]).toMatchObject({
      isFrozen: true,
      trace: { cached: 20, prefilled: 30, generated: 30, drafted: 4 },
    });
  });

  it('stand beside what runs in no slot', () => {
    const signed: EngineState['jobs'] = {
      ...jobs,
      s: { model: 'm', kind: 'generate', state: 'running', frozen: true, client: 'audit', submitted_ms: 0 },
      q: { model: 'm', kind: 'generate', state: 'queued', submitted_ms: 0 },
    };
    expect(apartOf('m', model(slots), signed)).toEqual([
      { client: 'audit', words: 'a signed answer, in a context of its own' },
    ]);
    expect(apartOf('other', model({}), signed)).toEqual([]);
  });

  it('have one scale for all, no wider than the window', () => {
    expect(scaleOf(model(slots))).toBe(1024);
    expect(scaleOf(model(slots, { num_ctx: 800 }))).toBe(800);
    expect(scaleOf(model({}))).toBe(256);
  });
});

describe('figures', () => {
  it('count the tokens that came between two states', () => {
    const at = (job: string, written: number) =>
      state({ m: model({ '0': { kept_tokens: 0, job_id: job, written_tokens: written } }) });
    expect(tokensBetween(at('a', 10), at('a', 14))).toBe(4);
    expect(tokensBetween(at('a', 10), at('b', 3))).toBe(3);
    expect(tokensBetween(at('a', 10), state({}))).toBe(0);
  });

  it('are nothing where nothing was asked', () => {
    expect([medianFirst([]), cachedShare([])]).toEqual([null, null]);
  });
});

describe('memory', () => {
  const memory = {
    CPU: { planned_bytes: 90, measured_bytes: 100, weights_bytes: 60, kv_bytes: 20, compute_bytes: 5 },
  };
  const full = state(
    {
      m: model({}, { memory, eviction: { rank: 2, reason: 'used' } }),
      n: model({}, { eviction: { rank: 1, reason: 'idle for longest' } }),
    },
    {
      devices: { CPU: { total_bytes: 1000, free_bytes: 600, reserve_bytes: 50 } },
    },
  );

  it('adds up to what the device has', () => {
    const parts = memoryOf(full, 'CPU');
    expect(Object.fromEntries(parts.map(({ name, bytes }) => [name, bytes]))).toEqual({
      weights: 60,
      'KV cache': 20,
      compute: 5,
      process: 15,
      others: 300,
      free: 600,
    });
    expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(1000);
  });

  it('names what goes next', () => {
    expect(nextToGo(full)).toMatchObject({ id: 'n', reason: 'idle for longest' });
    expect(nextToGo(state({}))).toBeNull();
  });
});
