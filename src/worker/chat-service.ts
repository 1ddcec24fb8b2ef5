/** A loaded chat model at work: generates and explains. */
import type { ExplainJob, Job } from '../contract/job.ts';
import { fail } from '../lib/errors/svc-error.ts';
import { BatchLoop } from './batch/batch-loop.ts';
import { FrozenLane } from './frozen/frozen.ts';
import { type Known, knownPrompt, prepareGeneration, preparePrompt } from './prepare.ts';
import type { ChatModel } from './model.ts';
import type { Outbox } from './outbox.ts';
import { pieceText } from './prompt/prompt.ts';

export class ChatService {
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #loop: BatchLoop;
  readonly #frozen: FrozenLane;
  readonly #known: Known = (prompt) => this.#loop.known(prompt);

  constructor(chat: ChatModel, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
    this.#loop = new BatchLoop(chat, outbox);
    this.#frozen = new FrozenLane(chat, outbox);
  }

  get steps(): number {
    return this.#loop.steps + this.#frozen.steps;
  }

  submit(job: Job): void {
    switch (job.kind) {
      case 'generate':
        if (job.lane === 'frozen') return this.#frozen.submit(job);
        return this.#loop.submit(prepareGeneration(this.#chat, job, this.#known));
      case 'explain':
        return this.#explain(job);
      case 'embed':
        throw fail('wrong_model_kind', { kind: 'chat', use: 'embeddings', wanted: 'embedding' });
    }
  }

  cancel(jobId: string): boolean {
    return this.#loop.cancel(jobId) || this.#frozen.cancel(jobId);
  }

  #explain(job: ExplainJob): void {
    const prepared = preparePrompt(this.#chat, job.job);
    const prompt = knownPrompt(prepared, job.job, this.#known);
    const placement = this.#loop.preview(prompt);
    this.#outbox.event(job.jobId, {
      type: 'explained',
      renderedPrompt: pieceText(prepared.pieces),
      promptTokens: prompt.length,
      cachedTokens: placement?.keep ?? 0,
      sequence: placement?.id ?? null,
      numCtx: prepared.numCtx,
      toolFormat: prepared.plan.toolFormat,
    });
    this.#outbox.flush();
  }
}
