/**
 * server/api/replay owns the checks of records on this machine: whether they are valid, and whether their answers can be
 * computed again. It knows nothing of the command line or the server, and leaves the judgement to trust/evidence.
 * This file: the two ways to run a record, the full replay and the check of its claimed tokens.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import {
  KNOWN_TEMPLATE_NAMES,
  knownTemplate,
} from '../../../../packages/chat-templates/src/form/known-templates.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { isKvType, type KvType } from '../../../contract/settings/kv-types.ts';
import type { DoneEvent } from '../../../contract/job-event.ts';
import type { Checked, ModelFiles, Replayed } from '../../../trust/evidence/compare.ts';
import {
  type BackendProvenance,
  statedClosure,
  statedExec,
  statedOutput,
  statedPrompt,
} from '../../../trust/evidence/record.ts';
import { statedSampling } from '../../../trust/evidence/stated-sampling.ts';
import type { Predicate } from '../../../trust/evidence/statement.ts';
import { hashServerSource } from '../../../trust/identity/server-source.ts';
import type { Machine } from './machine.ts';
import { notComparable, replayJob } from './replay-job.ts';
import { type AnswerWords, chatWords, ReplayWorker, type Run } from './replay-worker.ts';
import { reportedParts, wireCompletion } from '../completion/completions.ts';
import { collect } from '../chat/collected.ts';
import type { CompletionRequest } from '../../../wire/inference/completions.ts';

/** Threads wait for each other by spinning; above this ratio they make no progress. */
const MOST_THREADS_PER_CORE = 4;

export interface ReplayModel {
  readonly path: string;
  readonly files: ModelFiles;
  readonly defaultStop: readonly string[];
  readonly templates: readonly string[];
}

export interface ReplayResult extends Replayed {
  readonly tokens: Buffer;
  readonly tokensPerS: number;
}

export class Replayer {
  readonly #model: ReplayModel;
  readonly #worker: ReplayWorker;
  readonly #server = hashServerSource();

  constructor(
    { env, libraries }: Pick<Machine, 'env'> & { readonly libraries: string | null },
    model: ReplayModel,
  ) {
    this.#model = model;
    this.#worker = new ReplayWorker(
      { env, libraries },
      { path: model.path, digest: model.files.blob_sha256 },
    );
  }

  replay(claimed: Predicate, request: unknown, threads: number): Promise<ReplayResult> {
    return this.#here(async () => {
      refuseThreads(claimed, threads);
      const { n_ctx: numCtx } = claimed.exec;
      const pins = { threads, numCtx, claimedTokens: null, epsilon: 0 };
      const job = replayJob({ claimed, request, pins }, this.#model.defaultStop);
      const template = templateFor(claimed, this.#model);
      const load = { numCtx, template, exactKeys: recordedKeyType(claimed) };
      const run = await this.#worker.run(job, load, answerWords(claimed, request));
      refuseTemplate(claimed, run.done.frozen?.prompt.templateSha256);
      const { sha256: serverSha256 } = await this.#server;
      return { ...this.#account(claimed, run, await this.#worker.provenance()), serverSha256 };
    });
  }

  check(
    claimed: Predicate,
    request: unknown,
    { tokens, epsilon }: { readonly tokens: Buffer; readonly epsilon: number },
  ): Promise<Checked> {
    return this.#here(async () => {
      const pins = { threads: null, numCtx: null, claimedTokens: tokens.toString('base64'), epsilon };
      const job = replayJob({ claimed, request, pins }, this.#model.defaultStop);
      const template = templateFor(claimed, this.#model);
      const load = { numCtx: claimed.exec.n_ctx, template, exactKeys: null };
      const { done, answer } = await this.#worker.run(job, load, answerWords(claimed, request));
      if (done.check === undefined) throw new Error('the check gave no result');
      refuseTemplate(claimed, done.check.templateSha256);
      return { facts: done.check, answer, serverSha256: (await this.#server).sha256 };
    });
  }

  close(): Promise<void> {
    return this.#worker.close();
  }

  #account(
    claimed: Predicate,
    { done, answer }: Run,
    bound: BackendProvenance,
  ): Omit<ReplayResult, 'serverSha256'> {
    const { frozen, finishReason } = done;
    if (frozen === undefined) throw new Error('the replay gave no account of itself');
    return {
      tuple: {
        model: this.#model.files,
        backend: {
          ...claimed.backend,
          backend_sha256: bound.sha256,
          closure: statedClosure(bound, frozen.host.mapped),
          cpu_features: frozen.host.cpuFeatures,
        },
        exec: statedExec(frozen),
      },
      prompt: statedPrompt(frozen),
      sampling: statedSampling(frozen, claimed.sampling.defaulted),
      output: statedOutput(frozen, finishReason),
      answer,
      tokens: Buffer.from(frozen.output.tokens, 'base64'),
      tokensPerS: decodeSpeed(done),
    };
  }

  /** A refusal or failure of this machine is not a fault of the record. */
  async #here<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isSvcError(error)) throw error;
      await this.#worker.unload();
      throw notComparable(error.message, error);
    }
  }
}

function answerWords({ request: { route } }: Predicate, request: unknown): AnswerWords {
  if (route === undefined) return chatWords;
  return async (job, events) => {
    const reported = reportedParts(request as CompletionRequest, job.prompt);
    return wireCompletion([reported], await collect([job], events), 1);
  };
}

/** Null: the record was not made in the exact lane. */
function recordedKeyType({ exec }: Predicate): KvType | null {
  if (exec.lane !== 'exact') return null;
  const type = exec.type_k.toLowerCase();
  if (!isKvType(type)) throw notComparable(`its keys have the type ${exec.type_k}, which is not known here`);
  return type;
}

/** The template of the record if it is set for a model here or has a name; null: the file's own. */
function templateFor({ prompt }: Predicate, { templates }: ReplayModel): string | null {
  const isOfRecord = (source: string): boolean => sha256(source) === prompt.template_sha256;
  const found = templates.find((set) => isOfRecord(knownTemplate(set)?.source ?? set));
  return found ?? KNOWN_TEMPLATE_NAMES.find((name) => isOfRecord(knownTemplate(name)?.source ?? '')) ?? null;
}

/** The model file is the recorded one, so a different template came from a user's setting. */
function refuseTemplate({ prompt }: Predicate, here: string | null | undefined): void {
  if (here === undefined || here === prompt.template_sha256) return;
  throw notComparable(
    'it was made with a chat template that is not here; set the template for the model: hearth set MODEL template=FILE',
  );
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const decodeSpeed = ({ usage, timings }: DoneEvent): number =>
  (1000 * usage.completionTokens) / Math.max(1, timings.decodeMs);

/** A replay on other terms proves nothing, and with far more threads than cores it would take hours. */
function refuseThreads({ exec }: Predicate, threads: number): void {
  if (exec.lane === 'exact') return;
  if (threads !== exec.n_threads)
    throw notComparable(`n_threads: here ${threads}, in the record ${exec.n_threads}`);
  const cores = availableParallelism();
  if (threads > MOST_THREADS_PER_CORE * cores)
    throw notComparable(`it ran with ${threads} threads, and this machine has ${cores} cores`);
}
