/**
 * cli/log owns the destinations and the look of log lines: stderr, rotated files, and the output of `hearth logs`. It
 * knows nothing of a line's contents. This file: lines that are being written.
 */

export interface LineTarget {
  /** Resolves when the text is written, or cannot be; never rejects. */
  append(text: string): Promise<void>;
  /** For the last moment of a process; never throws. */
  appendNow(text: string): void;
}

/** A reader that does not read loses lines, but never costs memory or time of the service. */
const MOST_WAITING_CHARS = 4 * 1024 * 1024;

export class LineWriter {
  readonly #target: LineTarget;
  #waiting: string[] = [];
  #waitingChars = 0;
  #dropped = 0;
  #turn: Promise<void> | null = null;

  constructor(target: LineTarget) {
    this.#target = target;
  }

  write(line: string): void {
    if (this.#waitingChars + line.length > MOST_WAITING_CHARS) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingChars += line.length;
    this.#turn ??= this.#writeAll();
  }

  async flushed(): Promise<void> {
    await this.#turn;
  }

  flushNow(): void {
    this.#target.appendNow(this.#take());
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#target.append(this.#take());
    this.#turn = null;
  }

  #take(): string {
    const text = this.#waiting.join('') + this.#lossLine();
    this.#waiting = [];
    this.#waitingChars = 0;
    return text;
  }

  #lossLine(): string {
    if (this.#dropped === 0) return '';
    const lines = this.#dropped;
    this.#dropped = 0;
    const time = new Date().toISOString();
    return `${JSON.stringify({ level: 'warn', time, lines, msg: 'Log lines were lost, because nobody took them.' })}\n`;
  }
}
