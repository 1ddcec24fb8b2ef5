import { formatFacts } from './prompt/model-format.ts';
import type { GenerateJob, Job, PinJob, VocabularyJob } from '../contract/job.ts';
import { refusal } from '../lib/errors/refusal.ts';
import { fail } from '../lib/errors/svc-error.ts';
import { exactAccount } from './frozen/account.ts';
import { BatchLoop } from './batch/batch-loop.ts';
import { FrozenLane } from './frozen/lane.ts';
import { hasMedia, type PromptMedia, readMedia, type MediaInput } from './media/read-media.ts';
import { prepareChat, requireRoom } from './prepare.ts';
import type { ChatModel } from './model.ts';
import type { Outbox } from './outbox.ts';
import { pieceText } from './prompt/prompt.ts';

const NO_MEDIA: MediaInput = {
  reason: 'it has no projector',
  remedy: 'install the model again with its projector: hearth import FILE --projector PROJECTOR',
};

export class ChatService {
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #loop: BatchLoop;
  readonly #frozen: FrozenLane;
  readonly #reading = new Set<string>();

  constructor(chat: ChatModel, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
    this.#loop = new BatchLoop(chat, outbox);
    this.#frozen = new FrozenLane(chat, outbox);
  }

  get steps(): number {
    return this.#loop.steps + this.#frozen.steps;
  }

  save(): Promise<void> {
    return this.#loop.save();
  }

  submit(job: Exclude<Job, VocabularyJob>): void {
    switch (job.kind) {
      case 'generate':
        return this.#withMedia(job, (marked, images) => this.#generate(marked, images));
      case 'explain':
        return this.#withMedia({ ...job.job, jobId: job.jobId }, (marked, images) =>
          this.#explain(marked, images, job.wantsTokens === true),
        );
      case 'pin':
        return void this.#pin(job);
      case 'embed':
        throw fail('wrong_model_kind', {
          model: this.#chat.spec.modelId,
          kind: 'chat',
          use: 'embeddings',
          wanted: 'embedding',
        });
      case 'rank':
        throw fail('wrong_model_kind', {
          model: this.#chat.spec.modelId,
          kind: 'chat',
          use: 'reranking',
          wanted: 'rerank',
        });
    }
  }

  cancel(jobId: string): boolean {
    return this.#reading.delete(jobId) || this.#loop.cancel(jobId) || this.#frozen.cancel(jobId);
  }

  watch(watched: boolean): void {
    this.#loop.slots.watch(watched);
  }

  /** Prepares a job with images or audio after they are processed; until then it can be cancelled like any other. */
  #withMedia(job: GenerateJob, use: (job: GenerateJob, media: PromptMedia | null) => void): void {
    if (!hasMedia(job)) return use(job, null);
    const { mediaInput = NO_MEDIA, context, spec } = this.#chat;
    const { jobId } = job;
    this.#reading.add(jobId);
    void readMedia(job, { mediaInput, modelId: spec.modelId, mostWhole: context.batchTokens })
      .then(({ job: marked, media }) => {
        if (!this.#reading.has(jobId)) throw fail('cancelled');
        use(marked, media);
      })
      .catch((error: unknown) => this.#outbox.failed(jobId, error))
      .finally(() => this.#reading.delete(jobId));
  }

  #generate(job: GenerateJob, media: PromptMedia | null): void {
    const prepared = prepareChat(this.#chat, job, media);
    requireRoom(this.#chat, prepared);
    if (job.scoredPrompt !== undefined && prepared.runs.length > 0)
      throw refusal('prompt_logprobs', 'must not be set beside images or audio, which are no tokens');
    if (job.lane === 'frozen') this.#frozen.submit(prepared);
    else if (job.lane === 'exact') this.#loop.submit(prepared, exactAccount(this.#chat, prepared));
    else this.#loop.submit(prepared);
  }

  async #pin(job: PinJob): Promise<void> {
    try {
      this.#outbox.event(job.jobId, await this.#loop.pin(job), true);
      this.#outbox.flush();
    } catch (error) {
      this.#outbox.failed(job.jobId, error);
    }
  }

  #explain(job: GenerateJob, media: PromptMedia | null, wantsTokens: boolean): void {
    const prepared = prepareChat(this.#chat, job, media);
    const { promptTokens, cachedTokens, placement, earlier } = this.#loop.preview(prepared);
    const modelFormat = formatFacts(prepared.writer);
    this.#outbox.event(job.jobId, {
      type: 'explained',
      renderedPrompt: pieceText(prepared.pieces),
      ...(wantsTokens ? { tokens: prepared.tokens } : {}),
      ...(earlier === null ? {} : { earlier }),
      promptTokens,
      cachedTokens,
      sequence: placement?.id ?? null,
      numCtx: prepared.numCtx,
      toolFormat: prepared.toolFormat,
      ...(prepared.folds.length === 0 ? {} : { folds: [...prepared.folds] }),
      ...(prepared.unheld.length === 0 ? {} : { unheld: [...prepared.unheld] }),
      ...(modelFormat === null ? {} : { modelFormat }),
    });
    this.#outbox.flush();
  }
}
