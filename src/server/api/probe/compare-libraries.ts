/**
 * Compares the speed of two libraries of llama.cpp: the same short work on both, alternating, so that other load
 * affects both.
 */
import type { DoneEvent } from '../../../contract/job-event.ts';
import { collectEvents } from '../../engine/collect.ts';
import { fileTarget } from '../../engine/local/model-source.ts';
import type { LoadedModel } from '../../engine/ports.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { askDevices, startOwnWorker, type WorkerSettings } from '../own-worker.ts';
import { generateJob } from './probe-model.ts';

const TOKENS = 32;
const ROUNDS = 7;
/** For a large model, whose first round is conclusive. */
export const FEW_ROUNDS = 2;
const WINDOW = 1024;
const LIMIT_MS = 300_000;
const PASSAGE =
  'The river carries sand, leaves and small boats past the old mill, where two children count them. ';
const REPEATS = 10;

export interface ModelFile {
  readonly id: string;
  readonly path: string;
}

/** Milliseconds of prefill and decode, the least of several rounds on each; null: there is no present library. */
export async function compareLibraries(
  build: WorkerSettings,
  present: WorkerSettings,
  file: ModelFile,
  rounds = ROUNDS,
): Promise<{ readonly build: number; readonly present: number } | null> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  if (!(await canCompute(present))) return null;
  const backends = [build, present].map((settings) => startOwnWorker(settings));
  try {
    const models: LoadedModel[] = [];
    for (const backend of backends) {
      const target = fileTarget(
        { modelId: file.id, kind: 'chat' },
        { path: file.path, digest: null, threads: null },
      );
      models.push(await backend.load(target, { numCtx: WINDOW, slots: 1, cells: WINDOW }, limit));
    }
    const least = models.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, model] of models.entries()) {
        const ms = await timed(model, round, limit);
        least[at] = Math.min(least[at] ?? ms, ms);
      }
    }
    const [ofBuild = 0, ofPresent = 0] = least.map((ms) => Math.round(ms * 10) / 10);
    return { build: ofBuild, present: ofPresent };
  } finally {
    await Promise.all(backends.map((backend) => backend.close()));
  }
}

async function canCompute(settings: WorkerSettings): Promise<boolean> {
  try {
    await askDevices(settings);
    return true;
  } catch (error) {
    if (isFailure(error, 'native_unavailable')) return false;
    throw error;
  }
}

/** A different prompt in each round avoids cache hits. */
async function timed(model: LoadedModel, round: number, limit: AbortSignal): Promise<number> {
  const text = `${String.fromCharCode(65 + round)} ${PASSAGE.repeat(REPEATS)}`;
  const job = { ...generateJob({ kind: 'text', text }), jobId: `compare-${round}`, maxTokens: TOKENS };
  const events = await collectEvents((listener) => model.run(job, limit, listener));
  const done = events.find((event): event is DoneEvent => event.type === 'done');
  if (done === undefined) throw new Error('the measured answer did not end');
  const { prefillMs, decodeMs } = done.timings;
  // Rounding may end one answer earlier than the other.
  const written = Math.max(1, done.usage.completionTokens);
  return prefillMs + (decodeMs * TOKENS) / written;
}
