/** Runs recorded requests again in a worker of this process: the full replay, and the check of claimed tokens. */
import { availableParallelism } from 'node:os';
import { systemClock } from '../../lib/base/clock.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import type { LoadedModel } from '../../engine/ports.ts';
import type { FrozenPins } from '../../contract/frozen.ts';
import type { GenerateJob } from '../../contract/job.ts';
import { Sampling } from '../../contract/sampling-shapes.ts';
import type { DoneEvent, JobEvent } from '../../contract/job-event.ts';
import { fail, isFailure, isSvcError } from '../../lib/errors/svc-error.ts';
import type { Answer, Checked, ModelFiles, Replayed } from '../../trust/evidence/compare.ts';
import {
  type BackendProvenance,
  closureOf,
  execOf,
  outputOf,
  promptOf,
} from '../../trust/evidence/record.ts';
import { claimedSampling, samplingOf } from '../../trust/evidence/stated-sampling.ts';
import type { Predicate } from '../../trust/evidence/statement.ts';
import { hashBackend, readBuildMetadata } from '../../trust/identity/backend.ts';
import { hashServerSource } from '../../trust/identity/server-source.ts';
import { canonicalSha256 } from '../../trust/identity/canonical.ts';
import { ChatRequest } from '../../wire/inference/chat.ts';
import { readContent } from '../intake/chat-content.ts';
import { readSampling, readStop } from '../generation/parameters.ts';
import { collectAnswer } from '../chat/whole-answer.ts';
import { collectEvents } from '../../engine/collect.ts';
import { createLocalBackend, type LocalBackend } from '../../engine/local/local-backend.ts';
import { fileTarget } from '../../engine/local/model-source.ts';
import { Check } from '#typebox/value';
import type { CliContext } from '../../cli/context.ts';

/** Threads wait for each other in a loop, so that beyond this they make no headway. */
const mostThreadsPerCore = 4;

/** A model file of this machine that a record can be replayed on. */
export interface ReplayModel {
  readonly path: string;
  /** Digests computed from the bytes of the files. */
  readonly files: ModelFiles;
  /** Stop strings that the installation adds to requests without any. */
  readonly defaultStop: readonly string[];
}

export interface ReplayResult extends Replayed {
  /** The tokens of this run. */
  readonly tokens: Buffer;
  readonly tokensPerS: number;
}

export interface Replayer {
  replay(claimed: Predicate, request: unknown, threads: number): Promise<ReplayResult>;
  check(claimed: Predicate, request: unknown, claim: { tokens: Buffer; epsilon: number }): Promise<Checked>;
  close(): Promise<void>;
}

/** One worker with one model, loaded at the first use with the window that the record needs. */
export function createReplayer(context: CliContext, model: ReplayModel): Replayer {
  const backend = createLocalBackend({
    hostEnv: context.env,
    // Records are only made without layers on a GPU.
    gpu: 'off',
    clock: systemClock,
    log: silentLogger,
    draftTokens: 0,
  });
  const signal = new AbortController().signal;
  let loaded: { readonly numCtx: number; readonly model: LoadedModel } | undefined;
  let provenance: Promise<BackendProvenance> | undefined;
  const server = hashServerSource();

  const unload = async (): Promise<void> => {
    await loaded?.model.unload();
    loaded = undefined;
  };

  const load = async (numCtx: number): Promise<LoadedModel> => {
    if (loaded !== undefined && loaded.numCtx >= numCtx) return loaded.model;
    await unload();
    const target = fileTarget(
      { modelId: 'replay', kind: 'chat' },
      { path: model.path, digest: model.files.blob_sha256, threads: 1 },
    );
    loaded = { numCtx, model: await backend.load(target, { numCtx, slots: 1 }, signal) };
    return loaded.model;
  };

  const run = async (claimed: Predicate, request: unknown, pins: FrozenPins): Promise<Run> => {
    const job = replayJob(claimed, request, { pins, defaultStop: model.defaultStop });
    const target = await load(claimed.exec.n_ctx);
    const events = await collectEvents((listener) => target.run(job, signal, listener));
    const done = events.find((event) => event.type === 'done');
    if (done === undefined) throw new Error('the replay ended without a result');
    return { done, answer: await answerOf(job, events) };
  };

  /** Whatever this machine refuses or fails at says nothing about the record. */
  const here = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!isSvcError(error)) throw error;
      // The worker may be gone; the next record gets a fresh one.
      await unload();
      throw fail('record_not_comparable', { reason: error.message }, error);
    }
  };

  return {
    replay: (claimed, request, threads) =>
      here(async () => {
        refuseThreads(claimed, threads);
        const pins = { threads, numCtx: claimed.exec.n_ctx, claimedTokens: null, epsilon: 0 };
        const { done, answer } = await run(claimed, request, pins);
        const { frozen, finishReason, timings, usage } = done;
        if (frozen === undefined) throw new Error('the replay gave no account of itself');
        provenance ??= boundBackend(backend.backendFacts());
        const bound = await provenance;
        return {
          tuple: {
            model: model.files,
            backend: {
              ...claimed.backend,
              backend_sha256: bound.sha256,
              closure: closureOf(bound, frozen.host.mapped),
              cpu_features: frozen.host.cpuFeatures,
            },
            exec: execOf(frozen),
          },
          prompt: promptOf(frozen),
          sampling: samplingOf(frozen, claimed.sampling.defaulted),
          output: outputOf(frozen, finishReason),
          answer,
          serverSha256: (await server).sha256,
          tokens: Buffer.from(frozen.output.tokens, 'base64'),
          tokensPerS: (1000 * usage.completionTokens) / Math.max(1, timings.decodeMs),
        };
      }),
    check: (claimed, request, { tokens, epsilon }) =>
      here(async () => {
        const pins = { threads: null, numCtx: null, claimedTokens: tokens.toString('base64'), epsilon };
        const { done, answer } = await run(claimed, request, pins);
        if (done.check === undefined) throw new Error('the check gave no result');
        return { facts: done.check, answer, serverSha256: (await server).sha256 };
      }),
    close: () => backend.close(),
  };
}

/** A replay on other terms proves nothing, and one with far more threads than cores would take hours to say so. */
function refuseThreads({ exec }: Predicate, threads: number): void {
  if (threads !== exec.n_threads) {
    throw fail('record_not_comparable', {
      reason: `n_threads: here ${threads}, in the record ${exec.n_threads}`,
    });
  }
  const cores = availableParallelism();
  if (threads > mostThreadsPerCore * cores) {
    throw fail('record_not_comparable', {
      reason: `it ran with ${threads} threads, and this machine has ${cores} cores`,
    });
  }
}

interface Run {
  readonly done: DoneEvent;
  readonly answer: Answer;
}

/** The tokens as the service would have answered them. */
async function answerOf(job: GenerateJob, events: readonly JobEvent[]): Promise<Answer> {
  try {
    const { choices, usage } = await collectAnswer(
      [job],
      events.map((event) => ({ index: 0, event })),
    );
    return { choices, usage };
  } catch (error) {
    if (!isFailure(error, 'answer_invalid')) throw error;
    return null;
  }
}

/** The job of a recorded request: what was said comes from the request, how it was computed from the record. */
function replayJob(
  claimed: Predicate,
  request: unknown,
  options: { readonly pins: FrozenPins; readonly defaultStop: readonly string[] },
): GenerateJob {
  if (!Check(ChatRequest, request))
    throw fail('record_not_comparable', { reason: 'the request is not a chat request' });
  const { sampling } = claimed;
  const isNamed = request.stop !== null && request.stop !== undefined;
  const stop = isNamed ? readStop(request.stop) : [...options.defaultStop];
  if (canonicalSha256(stop) !== sampling.stop_sha256) {
    throw fail('record_not_comparable', {
      reason: 'other stop strings apply here, because the model was installed with other defaults',
    });
  }
  const settings = claimedSampling(claimed, readSampling(request));
  if (!Check(Sampling, settings))
    throw fail('record_not_comparable', {
      reason: 'its sampling settings are outside what this engine accepts',
    });
  return {
    kind: 'generate',
    jobId: 'replay',
    ...readContent(request),
    sampling: settings,
    maxTokens: sampling.num_predict,
    numCtx: null,
    stop,
    templateClockMs: Date.parse(claimed.prompt.template_clock),
    lane: 'frozen',
    frozen: options.pins,
  };
}

async function boundBackend(facts: ReturnType<LocalBackend['backendFacts']>) {
  if (facts === null || 'failed' in facts)
    throw fail('evidence_unavailable', { reason: 'the replay ran without a backend' });
  const hash = await hashBackend(facts.folder);
  if (hash === null) throw fail('evidence_unavailable', { reason: `${facts.folder} cannot be hashed` });
  return { sha256: hash.sha256, files: hash.files, ...readBuildMetadata(hash) };
}
