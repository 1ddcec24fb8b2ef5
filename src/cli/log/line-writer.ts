/**
 * cli/log owns where the lines of the log go and how they look: stderr, files that are rotated, and what `hearth logs` reads.
 * It knows nothing of what a line says. This file: lines on their way out, written while the event loop goes on.
 */

export interface LineTarget {
  /** Resolves when the text is written, or cannot be; never rejects. */
  append(text: string): Promise<void>;
  /** Writes synchronously, for the last moment of a process; never throws. */
  appendNow(text: string): void;
}

/** Characters that may wait. A reader that does not read costs lines, and never memory or time of the service. */
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

  /** Resolves when nothing waits. */
  async flushed(): Promise<void> {
    await this.#turn;
  }

  /** Writes what nobody has begun to write, at once. */
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

  /** A gap in a log has to be seen. */
  #lossLine(): string {
    if (this.#dropped === 0) return '';
    const lines = this.#dropped;
    this.#dropped = 0;
    const time = new Date().toISOString();
    return `${JSON.stringify({ level: 'warn', time, lines, msg: 'Log lines were lost, because nobody took them.' })}\n`;
  }
}
