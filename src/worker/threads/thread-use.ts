import type { FromWorker } from '../../contract/ipc.ts';
import type { ChatModel } from '../model.ts';
import { countsFor } from './counts.ts';
import { OthersUse, ownCpuMs } from './processor-use.ts';
import { type CallShape, ThreadChoice } from './thread-choice.ts';

type ThreadsMessage = Extract<FromWorker, { type: 'threads' }>;

interface RunningCall extends Omit<CallShape, 'atMs'> {
  readonly threads: number;
  readonly startedMs: number;
  readonly cpuMs: number;
}

export class ThreadUse {
  readonly #chat: ChatModel;
  readonly #choice: ThreadChoice;
  readonly #others = new OthersUse();
  readonly #tell: (message: ThreadsMessage) => void;
  #reported: ThreadsMessage;

  constructor(chat: ChatModel, tell: (message: ThreadsMessage) => void) {
    const { threads } = chat.facts;
    this.#chat = chat;
    this.#choice = new ThreadChoice({ counts: countsFor(chat), start: threads });
    this.#tell = tell;
    this.#reported = { type: 'threads', threads, confirmed: false };
  }

  begin(call: Omit<CallShape, 'atMs'>): RunningCall {
    const startedMs = performance.now();
    const threads = this.#choice.threadsFor({ ...call, atMs: startedMs });
    // llama.cpp uses its count for batches from two rows on, so both are set to the same number.
    this.#chat.context.setThreads(threads);
    return { ...call, threads, startedMs, cpuMs: ownCpuMs() };
  }

  end(call: RunningCall): number {
    const atMs = performance.now();
    const ms = atMs - call.startedMs;
    const cpuMs = ownCpuMs();
    const othersCores = this.#others.cores(atMs, cpuMs);
    this.#choice.observe({ ...call, atMs, ms, cpuMs: cpuMs - call.cpuMs, othersCores });
    this.#notifyChange();
    return ms;
  }

  #notifyChange(): void {
    const { decodeThreads: threads, isConfirmed: confirmed } = this.#choice;
    if (threads === this.#reported.threads && (this.#reported.confirmed || !confirmed)) return;
    this.#reported = { type: 'threads', threads, confirmed };
    this.#tell(this.#reported);
  }
}
