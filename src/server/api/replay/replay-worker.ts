import type { KvType } from '../../../contract/settings/kv-types.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { DoneEvent, JobEvent } from '../../../contract/job-event.ts';
import { collectEvents } from '../../engine/collect.ts';
import type { LocalBackend } from '../../engine/local/local-backend.ts';
import { fileTarget } from '../../engine/local/model-source.ts';
import type { LoadedModel } from '../../engine/ports.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import type { Answer } from '../../../trust/evidence/compare.ts';
import type { BackendProvenance } from '../../../trust/evidence/record.ts';
import { hashBackend, readBuildMetadata } from '../../../trust/identity/backend.ts';
import { checkedEvents } from '../chat/checked-jobs.ts';
import { collect } from '../chat/collected.ts';
import { wireAnswer } from '../dialects/chat-completions/whole-answer.ts';
import type { ChoiceEvent } from '../generation/choices.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';

export interface Run {
  readonly done: DoneEvent;
  /** The answer that the service would send for these tokens; null if it does not match the request. */
  readonly answer: Answer;
}

export interface ReplayLoad {
  readonly numCtx: number;
  readonly template: string | null;
  /** Key type of an exact load's KV cache; null: not exact. */
  readonly exactKeys: KvType | null;
}

export class ReplayWorker {
  readonly #backend: LocalBackend;
  readonly #model: { readonly path: string; readonly digest: string };
  readonly #signal = new AbortController().signal;
  #loaded: (ReplayLoad & { readonly model: LoadedModel }) | undefined;
  #provenance: Promise<BackendProvenance> | undefined;

  /** `libraries`: folder of the llama.cpp build of the record; null: the CPU package. */
  constructor(
    { env, libraries }: { readonly env: WorkerSettings['env']; readonly libraries: string | null },
    model: { readonly path: string; readonly digest: string },
  ) {
    this.#backend = startOwnWorker({ env, gpu: 'off', ...(libraries !== null && { libraries }) });
    this.#model = model;
  }

  async run(job: GenerateJob, load: ReplayLoad, wire: AnswerWords): Promise<Run> {
    const model = await this.#load(load);
    const events = await collectEvents((listener) => model.run(job, this.#signal, listener));
    const done = events.find((event) => event.type === 'done');
    if (done === undefined) throw new Error('the replay ended without a result');
    return { done, answer: await wireReplay(job, events, wire) };
  }

  provenance(): Promise<BackendProvenance> {
    this.#provenance ??= boundBackend(this.#backend.backendFacts());
    return this.#provenance;
  }

  /** The next run loads the model again, in a new worker if this one has ended. */
  async unload(): Promise<void> {
    await this.#loaded?.model.unload();
    this.#loaded = undefined;
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  async #load({ numCtx, template, exactKeys }: ReplayLoad): Promise<LoadedModel> {
    const loaded = this.#loaded;
    const isWide = exactKeys === null ? (loaded?.numCtx ?? 0) >= numCtx : loaded?.numCtx === numCtx;
    if (loaded !== undefined && isWide && loaded.template === template && loaded.exactKeys === exactKeys)
      return loaded.model;
    await this.unload();
    const settings = {
      ...(template !== null && { template }),
      ...(exactKeys !== null && { exact: 'on' as const, kvTypeK: exactKeys }),
    };
    const target = fileTarget({ modelId: 'replay', kind: 'chat' }, { ...this.#model, threads: 1, settings });
    const model = await this.#backend.load(target, { numCtx, slots: 1, cells: numCtx }, this.#signal);
    this.#loaded = { numCtx, template, exactKeys, model };
    return model;
  }
}

export type AnswerWords = (job: GenerateJob, events: readonly ChoiceEvent[]) => Promise<Answer>;

export const chatWords: AnswerWords = async (job, events) => wireAnswer(await collect([job], events));

async function wireReplay(job: GenerateJob, events: readonly JobEvent[], wire: AnswerWords): Promise<Answer> {
  try {
    const checked = await checkedEvents(job, events);
    return await wire(
      job,
      checked.map((event) => ({ index: 0, event })),
    );
  } catch (error) {
    if (!isFailure(error, 'answer_invalid')) throw error;
    return null;
  }
}

export async function boundBackend(
  facts: ReturnType<LocalBackend['backendFacts']>,
): Promise<BackendProvenance> {
  if (facts === null || 'failed' in facts)
    throw fail('evidence_unavailable', { reason: 'the replay ran without a backend' });
  const hash = await hashBackend(facts.folder);
  if (hash === null) throw fail('evidence_unavailable', { reason: `${facts.folder} cannot be hashed` });
  return { sha256: hash.sha256, files: hash.files, ...readBuildMetadata(hash) };
}
