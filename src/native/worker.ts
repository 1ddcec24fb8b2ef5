/** What the child does with each message of the server. */
import type { Llama } from 'node-llama-cpp';
import type { ToWorker } from '../engine/ipc.ts';
import type { ExplainJob, Job } from '../engine/job.ts';
import type { LoadSpec } from '../engine/load.ts';
import { fail } from '../errors/svc-error.ts';
import { BatchLoop } from './batch-loop.ts';
import { pieceText } from './prompt.ts';
import { prepareGeneration, preparePrompt } from './generate.ts';
import { type LoadedChat, loadChat } from './load.ts';
import { failureOf, type Outbox } from './outbox.ts';

export class Worker {
  readonly #llama: Llama;
  readonly #outbox: Outbox;
  #chat: { model: LoadedChat; loop: BatchLoop } | undefined;

  constructor(llama: Llama, outbox: Outbox) {
    this.#llama = llama;
    this.#outbox = outbox;
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'ping':
        return this.#outbox.post({ type: 'pong', nonce: message.nonce, steps: this.#chat?.loop.steps ?? 0 });
      case 'load':
        void this.#load(message.spec);
        return;
      case 'start':
        return this.#start(message.job);
      case 'cancel':
        this.#chat?.loop.cancel(message.jobId);
        return;
    }
  }

  async #load(spec: LoadSpec): Promise<void> {
    try {
      if (this.#chat !== undefined) throw fail('internal', { reason: 'a worker loads one model only' });
      const model = await loadChat(this.#llama, spec, (fraction) =>
        this.#outbox.post({ type: 'progress', fraction }),
      );
      this.#chat = { model, loop: new BatchLoop(model, this.#outbox) };
      this.#outbox.post({ type: 'loaded', facts: model.facts });
    } catch (error) {
      this.#outbox.post({ type: 'load_failed', failure: failureOf(error) });
    }
  }

  #start(job: Job): void {
    try {
      if (this.#chat === undefined) throw fail('internal', { reason: 'no model is loaded' });
      const { model, loop } = this.#chat;
      if (job.kind === 'generate') loop.submit(prepareGeneration(model, job));
      else if (job.kind === 'explain') this.#explain(model, loop, job);
      else throw fail('internal', { reason: 'a chat model was asked to embed' });
    } catch (error) {
      this.#outbox.failed(job.jobId, error);
    }
  }

  #explain(model: LoadedChat, loop: BatchLoop, job: ExplainJob): void {
    const prepared = preparePrompt(model, job.job);
    const placement = loop.sequences.preview(prepared.tokens, null);
    this.#outbox.event(job.jobId, {
      type: 'explained',
      renderedPrompt: pieceText(prepared.pieces),
      promptTokens: prepared.tokens.length,
      cachedTokens: placement?.keep ?? 0,
      sequence: placement?.id ?? null,
      numCtx: prepared.numCtx,
      toolFormat: prepared.plan.toolFormat,
    });
    this.#outbox.flush();
  }
}
