import { describe, expect, it } from 'vitest';
import type { EngineState, ModelView } from '../../../src/wire/operation/engine-state.ts';
import type { RequestView } from '../../../src/wire/operation/requests.ts';
import { apartOf, lanesOf, scaleOf, tokensBetween, waitingFor } from './lanes.ts';
import { deviceReading, holders } from './memory.ts';
import { firstTokens, promptOrigins, quantile, reusedShare, withPrompt } from './prompts.ts';
import { cacheReading } from './tiers.ts';

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

const asked = (facts: Partial<RequestView>): RequestView => ({
  number: 1,
  request_id: 'r',
  started_ms: 0,
  method: 'POST',
  route: '/v1/chat/completions',
  stream: false,
  status: 200,
  client: 'c',
  total_ms: 1,
  has_text: false,
  ...facts,
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
      'processing 250 of 400 tokens · 500 ms left',
      '20 reused · 30 processed · 30 generated, 4 of them drafted',
      '700 tokens kept for a follow-up',
      'free',
    ]);
    expect(lanes[0]).toMatchObject({
      client: 'editor',
      trace: { cached: 100, prefilled: 150, ahead: 150, generated: 0, room: 1024 },
    });
    expect(lanes[1]).toMatchObject({
      isFrozen: true,
      trace: { cached: 20, prefilled: 30, ahead: 0, generated: 30, drafted: 4 },
    });
  });

  it('stand beside what runs in no slot', () => {
    const signed: EngineState['jobs'] = {
      ...jobs,
      s: { model: 'm', kind: 'generate', state: 'running', frozen: true, client: 'audit', submitted_ms: 0 },
      q: { model: 'm', kind: 'generate', state: 'queued', submitted_ms: 0 },
    };
    expect(apartOf('m', model(slots), signed)).toEqual([
      { jobId: 's', client: 'audit', words: 'signed answer, in its own context' },
    ]);
    const far: EngineState['jobs'] = {
      f: { model: 'b/m', kind: 'generate', state: 'running', place: 'b', submitted_ms: 0 },
      e: { model: 'b/m', kind: 'embed', state: 'running', submitted_ms: 0 },
    };
    expect(apartOf('b/m', model({}), far).map(({ words }) => words)).toEqual([
      'answered at b',
      'embedding, uses no slot',
    ]);
    expect(apartOf('other', model({}), signed)).toEqual([]);
  });

  it('stand below for those that wait, the next one first', () => {
    const waits = (position: number, client: string) => ({
      model: 'm',
      kind: 'generate',
      state: 'queued' as const,
      client,
      submitted_ms: 1_000,
      position,
      reason: position === 1 ? 'waiting for a slot of model m' : 'the model is being loaded',
    });
    const queue = state({}, { at_ms: 5_000, jobs: { ...jobs, b: waits(2, 'late'), a: waits(1, 'early') } });
    expect(waitingFor('m', queue)).toEqual([
      { jobId: 'a', client: 'early', words: '#1 in the queue · for 4.0 s' },
      { jobId: 'b', client: 'late', words: '#2 in the queue · for 4.0 s · the model is being loaded' },
    ]);
    expect(waitingFor('other', queue)).toEqual([]);
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

  it('leave out what a job had generated before anybody looked', () => {
    const at = (written: number | undefined) =>
      state({
        m: model({
          '0': { kept_tokens: 0, job_id: 'a', ...(written === undefined ? {} : { written_tokens: written }) },
        }),
      });
    const older = new Set(['a']);
    expect(tokensBetween(state({}), at(150), older)).toBe(0);
    expect(tokensBetween(at(undefined), at(150), older)).toBe(0);
    expect(tokensBetween(at(150), at(154), older)).toBe(4);
    expect(tokensBetween(at(undefined), at(3), new Set())).toBe(3);
  });

  it('are nothing where nothing was asked', () => {
    expect([quantile([], 0.5), reusedShare(promptOrigins([]))]).toEqual([null, null]);
  });

  it('say how long the first token took, the middle one and the slowest, in the order of time', () => {
    const values = firstTokens([asked({ first_ms: 30 }), asked({}), asked({ first_ms: 10 })]);
    expect(values).toEqual([10, 30]);
    expect(quantile([5, 1, 4, 2, 3], 0.5)).toBe(3);
    expect(quantile([5, 1, 4, 2, 3], 0.99)).toBe(5);
    expect([quantile([22_200, 323], 0.5), quantile([22_200, 323], 0.99)]).toEqual([323, 22_200]);
  });

  it('leave out embeddings, and requests that ended before their prompt was looked at', () => {
    const chat = asked({ prompt_tokens: 7, cached_tokens: 0 });
    const all = [chat, asked({ prompt_tokens: 9000 }), asked({ status: 500 })];
    expect(withPrompt(all)).toEqual([chat]);
    expect(promptOrigins(all)).toEqual(promptOrigins([chat]));
  });

  it('say where prompts came from', () => {
    const origins = promptOrigins([
      asked({ prompt_tokens: 100, cached_tokens: 90, ram_tokens: 20, disk_tokens: 10 }),
      asked({ prompt_tokens: 50, cached_tokens: 0 }),
    ]);
    expect(origins).toEqual({ slot: 60, ram: 20, disk: 10, evaluated: 60 });
    expect(reusedShare(origins)).toBe(0.6);
  });
});

describe('memory', () => {
  const memory = {
    CPU: { planned_bytes: 90, measured_bytes: 100, weights_bytes: 60, kv_bytes: 20, compute_bytes: 5 },
  };
  const full = state(
    {
      m: model({}, { memory, eviction: { rank: 2, reason: 'busy' }, running: 1 }),
      n: model(
        {},
        {
          memory: { CPU: { planned_bytes: 40 } },
          eviction: { rank: 1, reason: 'idle for longest' },
          expires_ms: 7,
        },
      ),
      elsewhere: model({}, { place: 'box', eviction: { rank: 3, reason: 'idle' } }),
    },
    { devices: { CPU: { total_bytes: 1000, free_bytes: 560, reserve_bytes: 50 } } },
  );

  it('adds up to what the device has, with what was planned', () => {
    const { parts, ...sums } = deviceReading(full, 'CPU');
    expect(sums).toEqual({
      allBytes: 1000,
      heldBytes: 140,
      loadingBytes: 0,
      othersBytes: 300,
      freeBytes: 560,
      plannedBytes: 130,
      isMeasured: true,
    });
    expect(Object.fromEntries(parts.map(({ name, bytes }) => [name, bytes]))).toEqual({
      weights: 60,
      'kept tokens': 20,
      compute: 5,
      worker: 55,
    });
    expect(deviceReading(state({}, { devices: full.devices }), 'CPU')).toMatchObject({
      heldBytes: 0,
      isMeasured: false,
    });
  });

  it('is held by models of this machine, the one that goes next at the top', () => {
    expect(holders(full)).toEqual([
      {
        id: 'n',
        bytes: 40,
        plannedBytes: null,
        untilMs: 7,
        isUsed: false,
        isLoading: false,
        isNext: true,
        eviction: { rank: 1, reason: 'idle for longest' },
      },
      {
        id: 'm',
        bytes: 100,
        plannedBytes: 90,
        untilMs: null,
        isUsed: true,
        isLoading: false,
        isNext: false,
        eviction: { rank: 2, reason: 'busy' },
      },
    ]);
  });
});

describe('a model that is being loaded', () => {
  const loading = model(
    {},
    {
      state: 'loading',
      memory: { CPU: { planned_bytes: 50, weights_bytes: 50, kv_bytes: 0, compute_bytes: 0 } },
      eviction: { rank: 1, reason: 'idle for longest' },
    },
  );
  const now = state(
    { m: loading },
    { devices: { CPU: { total_bytes: 200, free_bytes: 100, reserve_bytes: 0 } } },
  );

  it('has a plan and holds nothing yet, and does not go next', () => {
    expect(deviceReading(now, 'CPU')).toMatchObject({ heldBytes: 0, loadingBytes: 50, othersBytes: 50 });
    expect(holders(now)).toMatchObject([{ id: 'm', isLoading: true, isNext: false }]);
  });
});

describe('the prompt cache', () => {
  it('is summed over models, of which each has its own memory and all share the disk', () => {
    const tier = { bytes: 10, limit_bytes: 100, tokens: 4, evictions: 1, restored_tokens: 2 };
    const cache = (others: number) => ({
      slot_evictions: 3,
      ram: tier,
      disk: { ...tier, others_bytes: others },
      restores: 2,
      restore_ms: 30,
    });
    expect(
      cacheReading(state({ a: model({}, { cache: cache(25) }), b: model({}, { cache: cache(20) }) })),
    ).toEqual({
      tiers: [
        { name: 'memory', bytes: 20, limitBytes: 200, tokens: 8 },
        { name: 'disk', bytes: 35, limitBytes: 100, tokens: 8 },
      ],
      restores: 4,
      restoreMs: 60,
      evictions: 10,
    });
    expect(cacheReading(state({ a: model({}) })).tiers).toEqual([]);
  });
});
