/** A loaded chat model at work: generates and explains. */
import { formatFacts } from './prompt/model-format.ts';
import type { ExplainJob, GenerateJob, Job, VocabularyJob } from '../contract/job.ts';
import { fail } from '../lib/errors/svc-error.ts';
import { exactAccount } from './frozen/account.ts';
import { BatchLoop } from './batch/batch-loop.ts';
import { FrozenLane } from './frozen/lane.ts';
import { prepareChat, requireRoom } from './prepare.ts';
import type { ChatModel } from './model.ts';
import type { Outbox } from './outbox.ts';
import { pieceText } from './prompt/prompt.ts';

export class ChatService {
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #loop: BatchLoop;
  readonly #frozen: FrozenLane;

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
        return this.#generate(job);
      case 'explain':
        return this.#explain(job);
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
    return this.#loop.cancel(jobId) || this.#frozen.cancel(jobId);
  }

  watch(watched: boolean): void {
    this.#loop.slots.watch(watched);
  }

  #generate(job: GenerateJob): void {
    const prepared = prepareChat(this.#chat, job);
    requireRoom(this.#chat, prepared);
    if (job.lane === 'frozen') this.#frozen.submit(prepared);
    else if (job.lane === 'exact') this.#loop.submit(prepared, exactAccount(this.#chat, prepared));
    else this.#loop.submit(prepared);
  }

  #explain(job: ExplainJob): void {
    const prepared = prepareChat(this.#chat, job.job);
    const { promptTokens, cachedTokens, placement, earlier } = this.#loop.preview(prepared);
    const modelFormat = formatFacts(prepared.writer);
    this.#outbox.event(job.jobId, {
      type: 'explained',
      renderedPrompt: pieceText(prepared.pieces),
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
