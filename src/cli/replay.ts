/** Runs recorded requests again in a worker of this process: the full replay, and the check of claimed tokens. */
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/logger.ts';
import type { LoadedModel } from '../engine/backend.ts';
import type { CheckFacts, FrozenPins } from '../engine/frozen.ts';
import type { GenerateJob } from '../engine/job.ts';
import type { DoneEvent } from '../engine/job-event.ts';
import type { Replayed } from '../evidence/compare.ts';
import { type BackendProvenance, closureOf, execOf } from '../evidence/record.ts';
import type { Predicate } from '../evidence/statement.ts';
import { hashBackend, readBuildMetadata } from '../identity/backend.ts';
import { hashServerSource } from '../identity/server-source.ts';
import { canonicalSha256 } from '../identity/canonical.ts';
import { ChatRequest } from '../protocol/chat.ts';
import { chatShape } from '../router/chat-shape.ts';
import { readSampling, readStop } from '../router/parameters.ts';
import { createWorkerBackend } from '../worker/backend.ts';
import { Check } from 'typebox/value';
import type { CliContext } from './context.ts';

const childPath = fileURLToPath(new URL('../native/main.js', import.meta.url));

/** A model file of this machine that a record can be replayed on. */
export interface ReplayModel {
  readonly path: string;
  /** Computed from the bytes of the file. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Stop strings that the installation adds to requests without any. */
  readonly defaultStop: readonly string[];
}

export interface ReplayResult extends Replayed {
  /** The tokens of this run. */
  readonly tokens: Buffer;
  readonly tokensPerS: number;
}

/** The record cannot be repeated here, for a reason that is no fault of it. */
export class NotComparable extends Error {}

export interface Replayer {
  replay(claimed: Predicate, request: unknown, threads: number): Promise<ReplayResult>;
  check(
    claimed: Predicate,
    request: unknown,
    claim: { tokens: Buffer; epsilon: number },
  ): Promise<CheckFacts>;
  close(): Promise<void>;
}

/** One worker with one model, loaded at the first use with the window that the record needs. */
export function createReplayer(context: CliContext, model: ReplayModel): Replayer {
  const backend = createWorkerBackend({
    childPath,
    hostEnv: context.env,
    // Records are only made without layers on a GPU.
    gpu: 'off',
    clock: systemClock,
    log: silentLogger,
  });
  const signal = new AbortController().signal;
  let loaded: { readonly numCtx: number; readonly model: LoadedModel } | undefined;
  let provenance: Promise<BackendProvenance> | undefined;
  const server = hashServerSource();

  const load = async (numCtx: number): Promise<LoadedModel> => {
    if (loaded !== undefined && loaded.numCtx >= numCtx) return loaded.model;
    await loaded?.model.unload();
    const spec = {
      modelId: 'replay',
      path: model.path,
      digest: model.sha256,
      kind: 'chat' as const,
      numCtx,
      parallel: 1,
      threads: 1,
      tunedThreads: null,
    };
    loaded = { numCtx, model: await backend.load(spec, signal, () => {}) };
    return loaded.model;
  };

  const run = async (claimed: Predicate, request: unknown, pins: FrozenPins): Promise<DoneEvent> => {
    const job = replayJob(claimed, request, { pins, defaultStop: model.defaultStop });
    const target = await load(claimed.exec.n_ctx);
    for await (const event of target.run(job, signal)) if (event.type === 'done') return event;
    throw new Error('the replay ended without a result');
  };

  return {
    replay: async (claimed, request, threads) => {
      const pins = { threads, numCtx: claimed.exec.n_ctx, claimedTokens: null, epsilon: 0 };
      const { frozen, timings, usage } = await run(claimed, request, pins);
      if (frozen === undefined) throw new Error('the replay gave no account of itself');
      provenance ??= boundBackend(backend.backendFacts());
      const here = await provenance;
      return {
        tuple: {
          model: { ...claimed.model, blob_sha256: model.sha256, size: model.sizeBytes },
          backend: {
            ...claimed.backend,
            backend_sha256: here.sha256,
            closure: closureOf(here, frozen.host.mapped),
            cpu_features: frozen.host.cpuFeatures,
          },
          exec: execOf(frozen),
        },
        prompt: { tokens_sha256: frozen.prompt.tokensSha256 },
        serverSha256: (await server).sha256,
        output: {
          tokens_sha256: frozen.output.tokensSha256,
          trace_sha256: frozen.output.traceSha256,
          n_tokens: frozen.output.tokenCount,
        },
        tokens: Buffer.from(frozen.output.tokens, 'base64'),
        tokensPerS: (1000 * usage.completionTokens) / Math.max(1, timings.decodeMs),
      };
    },
    check: async (claimed, request, { tokens, epsilon }) => {
      const pins = { threads: null, numCtx: null, claimedTokens: tokens.toString('base64'), epsilon };
      const { check } = await run(claimed, request, pins);
      if (check === undefined) throw new Error('the check gave no result');
      return check;
    },
    close: () => backend.close(),
  };
}

/** The job of a recorded request: what was said comes from the request, how it was computed from the record. */
function replayJob(
  claimed: Predicate,
  request: unknown,
  options: { readonly pins: FrozenPins; readonly defaultStop: readonly string[] },
): GenerateJob {
  if (!Check(ChatRequest, request)) throw new NotComparable('the request is not a chat request');
  const { sampling } = claimed;
  const given = readStop(request.stop);
  const stop = given.length > 0 ? given : [...options.defaultStop];
  if (canonicalSha256(stop) !== sampling.stop_sha256) {
    throw new NotComparable(
      'other stop strings apply here, because the model was installed with other defaults',
    );
  }
  const { logitBias } = readSampling(request);
  return {
    kind: 'generate',
    jobId: 'replay',
    ...chatShape(request),
    sampling: {
      temperature: sampling.temperature,
      seed: sampling.seed,
      topK: sampling.top_k,
      topP: sampling.top_p,
      minP: sampling.min_p,
      repeatPenalty: sampling.repeat_penalty,
      repeatLastN: sampling.repeat_last_n,
      presencePenalty: sampling.presence_penalty,
      frequencyPenalty: sampling.frequency_penalty,
      ...(logitBias === undefined ? {} : { logitBias }),
    },
    maxTokens: sampling.num_predict,
    numCtx: null,
    stop,
    templateClockMs: Date.parse(claimed.prompt.template_clock),
    lane: 'frozen',
    frozen: options.pins,
  };
}

async function boundBackend(facts: ReturnType<ReturnType<typeof createWorkerBackend>['backendFacts']>) {
  if (facts === null || 'failed' in facts) throw new Error('the replay ran without a backend');
  const hash = await hashBackend(facts.folder);
  if (hash === null) throw new Error(`${facts.folder} cannot be hashed`);
  return { sha256: hash.sha256, files: hash.files, ...readBuildMetadata(hash) };
}
