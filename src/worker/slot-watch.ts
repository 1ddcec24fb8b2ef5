/**
 * Reports the slots to the server. For a watching client: a few times a second, between native calls (see outbox.ts);
 * else some time after a change, which is enough for metrics.
 */
import type { FromWorker } from '../contract/ipc.ts';
import { SLOT_REPORT_MS, type SlotStates, UNWATCHED_REPORT_MS } from '../contract/slots.ts';

export class SlotWatch {
  readonly #read: () => SlotStates;
  readonly #post: (message: FromWorker) => void;
  readonly #nowMs: () => number;
  #isWatched = false;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #isDue = false;

  constructor(
    read: () => SlotStates,
    post: (message: FromWorker) => void,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#read = read;
    this.#post = post;
    this.#nowMs = nowMs;
  }

  watch(watched: boolean): void {
    this.#isWatched = watched;
    if (watched) this.#tell();
  }

  afterNativeCall(): void {
    if (!this.#isWatched) return this.#reportLater();
    if (this.#nowMs() - this.#reportedMs >= SLOT_REPORT_MS) this.#tell();
  }

  atEnd(): void {
    if (this.#isWatched) this.#tell();
    else this.#reportLater();
  }

  #reportLater(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#tell();
    }, UNWATCHED_REPORT_MS).unref();
  }

  #tell(): void {
    this.#reportedMs = this.#nowMs();
    this.#post({ type: 'slots', slots: this.#read() });
  }
}
