/**
 * server/api/probe owns the trial of a file before it is installed: a disposable worker loads it, renders its template and
 * decodes one token, or computes one vector. It knows nothing of the registry or of the file's origin. Defects that
 * the header check misses appear here, and cannot crash the server.
 */
import { stat } from 'node:fs/promises';
import { LEAST_CTX } from '../../../contract/limits.ts';
import type { GenerateJob, Job } from '../../../contract/job.ts';
import { fail, isFailure, isSvcError } from '../../../lib/errors/svc-error.ts';
import type { Probe, ProbeTarget } from '../../../store/install/inspection.ts';
import { collectEvents } from '../../engine/collect.ts';
import { fileTarget } from '../../engine/local/model-source.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';

/** Start, load from a slow disk, and two evaluations; larger files get more. */
const BASE_LIMIT_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 50_000;
const PROBE_CTX = 256;

export function createProbe(settings: WorkerSettings, note: (line: string) => void): Probe {
  return async (target) => {
    const { size } = await stat(target.path);
    const limitMs = Math.ceil(BASE_LIMIT_MS + size / SLOWEST_BYTES_PER_MS);
    const limit = AbortSignal.timeout(limitMs);
    try {
      await runProbe(target, limit, settings);
    } catch (error) {
      if (isFailure(error, 'native_unavailable', 'files_changed'))
        return note('The model was not tried, because no native backend is ready here.');
      const late = limit.aborted ? `it did not answer within ${Math.round(limitMs / 1000)} s` : null;
      throw refusal(target, late, error);
    }
  };
}

/** States the reason as a fact about the file, because the original sentence is about a request. */
function refusal(target: ProbeTarget, late: string | null, error: unknown): Error {
  const said = inWords(error);
  if (late === null && said === null && isSvcError(error)) return error;
  return fail('load_failed', { model: target.shown, reason: late ?? said ?? String(error) }, error);
}

function inWords(error: unknown): string | null {
  if (isFailure(error, 'worker_crashed', 'worker_hung'))
    return `it crashed the worker (${error.detail.reason})`;
  if (isFailure(error, 'template_failed'))
    return `its chat template renders no message from a user alone (${error.detail.reason}), and --no-probe imports it without this trial`;
  return null;
}

export async function tryLibrary(
  settings: WorkerSettings,
  model: { readonly id: string; readonly path: string },
): Promise<void> {
  const facts = { contextLength: PROBE_CTX, pooling: null, hasChatTemplate: false };
  const target = { path: model.path, shown: model.id, kind: 'chat' as const, facts };
  await runProbe(target, AbortSignal.timeout(BASE_LIMIT_MS), settings);
}

type Tried = Pick<ProbeTarget, 'path' | 'shown' | 'kind'> & {
  readonly facts: Pick<ProbeTarget['facts'], 'contextLength' | 'pooling' | 'hasChatTemplate'>;
};

async function runProbe(target: Tried, limit: AbortSignal, settings: WorkerSettings): Promise<void> {
  const backend = startOwnWorker(settings);
  const numCtx = Math.max(LEAST_CTX, Math.min(PROBE_CTX, target.facts.contextLength));
  try {
    const model = await backend.load(
      fileTarget(
        { modelId: target.shown, kind: target.kind },
        { path: target.path, digest: null, threads: 1 },
      ),
      { numCtx, slots: 1, cells: numCtx },
      limit,
    );
    for (const job of probeJobs(target)) await collectEvents((listener) => model.run(job, limit, listener));
  } finally {
    await backend.close();
  }
}

function probeJobs({ kind, facts }: Tried): Job[] {
  if (facts.pooling === 'rank')
    return [{ kind: 'rank', jobId: 'probe', query: 'Hello?', documents: ['Hello!'], truncate: true }];
  if (kind === 'embedding') return [{ kind: 'embed', jobId: 'probe', inputs: ['Hello!'], truncate: true }];
  const text = generateJob({ kind: 'text', text: 'Hello!' });
  if (!facts.hasChatTemplate) return [text];
  // Only rendered: the template's own text may not fit the small window of a probe.
  const chat = generateJob({ kind: 'chat', turns: [{ role: 'user', content: 'Hello!' }] });
  return [{ kind: 'explain', jobId: 'probe-template', job: chat }, text];
}

export function generateJob(prompt: GenerateJob['prompt']): GenerateJob {
  return {
    kind: 'generate',
    jobId: 'probe',
    prompt,
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: {},
    sampling: { temperature: 0 },
    adapters: [],
    maxTokens: 1,
    numCtx: null,
    stop: [],
    topLogprobs: null,
    templateClockMs: null,
    lane: 'shared',
  };
}
