import type { FromWorker, ToWorker } from '../contract/ipc.ts';
import { JobReader } from '../contract/job-tools.ts';
import { isVocabularyJob, type Job, type VocabularyJob } from '../contract/job.ts';
import type { LoadSpec } from '../contract/load.ts';
import type { NativeBackend } from './native.ts';
import { ChatService } from './chat-service.ts';
import { EmbedPool } from './embedding/embed-pool.ts';
import { loadChat } from './load/chat.ts';
import { loadEmbedding } from './load/embedding.ts';
import { usesDevices } from './load/load-options.ts';
import { formatOfFile } from './load/writers.ts';
import { measureModel } from './load/measure.ts';
import { toFailure, type Outbox } from './outbox.ts';
import { answerVocabularyJob } from './prompt/vocabulary-jobs.ts';
import type { Vocabulary } from './prompt/vocabulary.ts';

interface ModelService {
  submit(job: Exclude<Job, VocabularyJob>): void;
  cancel(jobId: string): boolean;
  watch?(watched: boolean): void;
  readonly steps: number;
  save?(): Promise<void>;
}

export class Dispatcher {
  readonly #backend: NativeBackend;
  readonly #outbox: Outbox;
  readonly #jobs = new JobReader();
  #service: ModelService | undefined;
  #vocabulary: Vocabulary | undefined;
  #loading = false;

  constructor(backend: NativeBackend, outbox: Outbox) {
    this.#backend = backend;
    this.#outbox = outbox;
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'ping':
        return this.#outbox.post({ type: 'pong', nonce: message.nonce, steps: this.#service?.steps ?? 0 });
      case 'watch':
        return this.#service?.watch?.(message.watched);
      case 'measure':
        void this.#answer(async () => ({
          type: 'measured',
          measurement: await measureModel(this.#backend, message.spec),
        }));
        return;
      case 'ask_format':
        void this.#answer(async () => ({
          type: 'format',
          facts: await formatOfFile(this.#backend, message.spec),
        }));
        return;
      case 'load':
        void this.#load(message.spec);
        return;
      case 'start':
        return this.#start(this.#jobs.unpacked(message));
      case 'save':
        void this.#save();
        return;
      case 'cancel':
        this.#service?.cancel(message.jobId);
        return;
    }
  }

  async #answer(question: () => Promise<FromWorker>): Promise<void> {
    try {
      this.#outbox.post(await question());
    } catch (error) {
      this.#outbox.post({ type: 'question_failed', failure: toFailure(error) });
    }
  }

  async #load(spec: LoadSpec): Promise<void> {
    try {
      if (this.#loading) throw new Error('a worker loads one model only');
      this.#loading = true;
      const onProgress = (): void => this.#outbox.post({ type: 'loading' });
      if (spec.kind === 'embedding') {
        const model = await loadEmbedding(this.#backend, spec, onProgress);
        this.#service = new EmbedPool(model, this.#outbox);
        this.#vocabulary = model.vocabulary;
        this.#outbox.post({ type: 'loaded', facts: model.facts });
      } else {
        const model = await loadChat(this.#backend, spec, onProgress);
        if (usesDevices(this.#backend, spec.settings)) this.#outbox.computesOnGpu();
        this.#service = new ChatService(model, this.#outbox);
        this.#vocabulary = model.vocabulary;
        this.#outbox.post({ type: 'loaded', facts: model.facts });
      }
    } catch (error) {
      this.#outbox.post({ type: 'load_failed', failure: toFailure(error) });
    }
  }

  async #save(): Promise<void> {
    await this.#service?.save?.();
    this.#outbox.post({ type: 'saved' });
  }

  #start(job: Job): void {
    try {
      if (this.#service === undefined || this.#vocabulary === undefined)
        throw new Error('no model is loaded');
      if (!isVocabularyJob(job)) return this.#service.submit(job);
      this.#outbox.event(job.jobId, answerVocabularyJob(this.#vocabulary, job));
      this.#outbox.flush();
    } catch (error) {
      this.#outbox.failed(job.jobId, error);
    }
  }
}
