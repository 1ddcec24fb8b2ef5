import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DoneEvent } from '../../../contract/job-event.ts';
import type { FinishedLoad, ResidencyStatus } from '../ports.ts';
import { beginAtZero, gaugesPerModel } from './per-model.ts';

type Cause = 'asked' | 'unexpected';

const LOAD_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];

export interface ModelMetrics {
  onLoad(load: FinishedLoad): void;
  onGone(modelId: string, reason: string | null): void;
  onDone(done: DoneEvent, modelId: string): void;
}

export function modelMetrics(
  registry: Registry,
  residencies: () => readonly ResidencyStatus[],
): ModelMetrics {
  const registers = [registry];
  const loads = new Histogram({
    name: 'hearth_model_load_seconds',
    help: 'Loads of models by outcome: loaded, or the code of the failure.',
    labelNames: ['model', 'outcome'],
    buckets: LOAD_BUCKETS,
    registers,
  });
  const ends = new Counter({
    name: 'hearth_worker_ends_total',
    help: 'Models that left memory: asked for (unloaded), or by themselves (a crash, a hang), after which the next request loads them again.',
    labelNames: ['model', 'cause'],
    registers,
  });
  const drafts = new Counter({
    name: 'hearth_draft_tokens_total',
    help: 'Tokens evaluated ahead (drafted), and those that the sampler chose as well (accepted).',
    labelNames: ['model', 'outcome'],
    registers,
  });
  addMemory(registry, residencies);
  addCells(registry, residencies);
  return {
    onLoad: ({ modelId: model, ms, failure }) => {
      beginAtZero(ends, { model }, { cause: ['asked', 'unexpected'] satisfies Cause[] });
      beginAtZero(drafts, { model }, { outcome: ['drafted', 'accepted'] });
      loads.observe({ model, outcome: failure ?? 'loaded' }, ms / 1000);
    },
    onGone: (model, reason) => {
      const cause: Cause = reason === null ? 'asked' : 'unexpected';
      ends.inc({ model, cause });
    },
    onDone: ({ timings: { drafts: counts } }, model) => {
      if (counts === undefined) return;
      drafts.inc({ model, outcome: 'drafted' }, counts.drafted);
      drafts.inc({ model, outcome: 'accepted' }, counts.accepted);
    },
  };
}

function addMemory(registry: Registry, residencies: () => readonly ResidencyStatus[]): void {
  const bytes = new Gauge({
    name: 'hearth_model_bytes',
    help: 'Memory of a model by device: planned, measured, and by purpose (weights, kv, compute), as far as the engine reports it.',
    labelNames: ['model', 'device', 'part'],
    registers: [registry],
    collect() {
      this.reset();
      for (const item of residencies()) setMemory(item);
    },
  });
  const setMemory = ({ modelId: model, planned, facts }: ResidencyStatus): void => {
    for (const { device, bytes: count } of planned) bytes.set({ model, device, part: 'planned' }, count);
    for (const { device, bytes: count } of facts?.measured ?? [])
      bytes.set({ model, device, part: 'measured' }, count);
    for (const { device, modelBytes, contextBytes, computeBytes } of facts?.parts ?? []) {
      bytes.set({ model, device, part: 'weights' }, modelBytes);
      bytes.set({ model, device, part: 'kv' }, contextBytes);
      bytes.set({ model, device, part: 'compute' }, computeBytes);
    }
  };
}

function addCells(registry: Registry, residencies: () => readonly ResidencyStatus[]): void {
  const perModel = gaugesPerModel(registry, residencies);
  perModel(
    'hearth_model_kv_cells',
    'KV cells that the slots of a model have together, tokens.',
    ({ facts }) => facts?.cells,
  );
  perModel(
    'hearth_model_kv_cells_used',
    'KV cells that hold the state of a token, told a second after a change; a beginning that slots share counts in each.',
    ({ cellsUsed }) => cellsUsed,
  );
}
