/** A chat model with eyes in this process: jobs in, answers out, and the logits that they begin with. */
import { EventEmitter, once } from 'node:events';
import type { FromWorker } from '../../src/contract/ipc.ts';
import type { DoneEvent, JobEvent } from '../../src/contract/job-event.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { LoadSpec } from '../../src/contract/load.ts';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { ChatService } from '../../src/worker/chat-service.ts';
import { loadChat } from '../../src/worker/load/chat.ts';
import { isAudio } from '../../src/worker/media/audio-file.ts';
import { MediaEncoder } from '../../src/worker/media/media-encoder.ts';
import type { ChatModel } from '../../src/worker/model.ts';
import type { NativeBackend } from '../../src/worker/native.ts';
import { Outbox } from '../../src/worker/outbox.ts';
import { generateJob, loadSpec } from '../support/engine/jobs.ts';
import { TINY_SHAPE } from '../../tools/models/tiny-shape.ts';
import { dataUrl } from '../support/images.ts';

/** Of a row, in all tiny models. */
const WIDTH = TINY_SHAPE.width;

let booted: Promise<NativeBackend> | undefined;

/** The library is bound once for a process. */
export const backendOf = (libraries: string): Promise<NativeBackend> => {
  booted ??= bootNative('off', libraries);
  return booted;
};

export interface Seen {
  readonly text: string;
  readonly done: DoneEvent | undefined;
  readonly failure: { readonly code: string; readonly detail: Readonly<Record<string, unknown>> } | null;
  /** Behind the prompt. */
  readonly logits: Float32Array;
}

export class Eyes {
  readonly chat: ChatModel;
  readonly chats: ChatService;
  readonly messages: FromWorker[] = [];
  readonly #heard = new EventEmitter();
  /** Of every row that was sampled from, in order. */
  readonly #logits: Float32Array[] = [];
  imageRows = 0;

  private constructor(chat: ChatModel) {
    this.chat = chat;
    const outbox = new Outbox((message, onSent) => {
      this.messages.push(message);
      this.#heard.emit('message');
      setImmediate(onSent);
    });
    this.#watch();
    this.chats = new ChatService(chat, outbox);
  }

  static async open(libraries: string, fields: Partial<LoadSpec>): Promise<Eyes> {
    const spec = loadSpec({ numCtx: 2048, parallel: 2, threads: 1, ...fields });
    return new Eyes(await loadChat(await backendOf(libraries), spec, () => undefined));
  }

  get encodedRuns(): number {
    const { mediaInput } = this.chat;
    if (!(mediaInput instanceof MediaEncoder)) throw new Error(JSON.stringify(mediaInput));
    return mediaInput.encodedRuns;
  }

  /** Logits of every call of the context that sampled, in order. */
  #watch(): void {
    const { context, vocabulary } = this.chat;
    const tokens = Array.from({ length: vocabulary.size }, (_, token) => token);
    const { sample, decodeRows } = context;
    context.sample = (row, sampler) => {
      const { of } = context.readLogits(row, { tokens, largest: 0 });
      const all = new Float32Array(tokens.length);
      for (const { token, logit } of of) all[token] = logit;
      this.#logits.push(all);
      return sample.call(context, row, sampler);
    };
    context.decodeRows = (rows) => {
      this.imageRows += rows.values.length / WIDTH;
      return decodeRows.call(context, rows);
    };
  }

  async ask(content: string, images: readonly Buffer[], fields: Partial<GenerateJob> = {}): Promise<Seen> {
    const job = jobOf(content, images, fields);
    const from = this.#logits.length;
    this.chats.submit(job);
    const events = await this.#ended(job.jobId);
    return this.#seen(job, events, from);
  }

  async #ended(jobId: string): Promise<JobEvent[]> {
    for (;;) {
      const events = this.#eventsOf(jobId);
      if (events.at(-1)?.type === 'done' || this.failureOf(jobId) !== null) return events;
      await once(this.#heard, 'message');
    }
  }

  failureOf(jobId: string): Seen['failure'] {
    const found = this.messages.find((message) => message.type === 'failed' && message.jobId === jobId);
    return found?.type === 'failed' ? found.failure : null;
  }

  #eventsOf(jobId: string): JobEvent[] {
    return this.messages.flatMap((message) =>
      message.type === 'events'
        ? message.events.filter((each) => each.jobId === jobId).map(({ event }) => event)
        : [],
    );
  }

  #seen(job: GenerateJob, events: readonly JobEvent[], from: number): Seen {
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    const done = events.find((event) => event.type === 'done');
    const logits = this.#logits[from] ?? new Float32Array();
    return { text, done, failure: this.failureOf(job.jobId), logits };
  }
}

const mediumOf = (file: Buffer) =>
  isAudio(file)
    ? { medium: 'audio' as const, data: file.toString('base64'), format: 'wav' }
    : { medium: 'image' as const, url: dataUrl(file) };

/** Text, with images or audio where `#` stands. */
export function jobOf(
  text: string,
  images: readonly Buffer[],
  fields: Partial<GenerateJob> = {},
): GenerateJob {
  const parts = text.split('#');
  let at = 0;
  const media = images.map((image, index) => {
    at += parts[index]?.length ?? 0;
    return { ...mediumOf(image), at };
  });
  const turn = { role: 'user' as const, content: parts.join(''), media };
  return generateJob({ maxTokens: 4, prompt: { kind: 'chat', turns: [turn] }, ...fields });
}

/** What the template of the tiny models makes of a question. */
export const promptOf = (text: string): string =>
  `<|im_start|>user\n${text.replaceAll('#', '[image]')}<|im_end|>\n<|im_start|>assistant\n`;
