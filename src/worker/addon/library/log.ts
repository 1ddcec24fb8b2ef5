import koffi from 'koffi';
import { LOG_LEVELS, enumName } from '../../../../packages/llama-api/src/enums.ts';
import { LogCallback, type Pointer } from './layouts.ts';
import type { Library } from './open.ts';

const MOST_KEPT = 8;

export class NativeLog {
  #level: number = LOG_LEVELS.none;
  #line = '';
  #errors: string[] = [];

  readonly #callback: Pointer;

  constructor(library: Pick<Library, 'llama_log_set'>) {
    const listener = (level: number, text: string): void => this.#write(level, text);
    this.#callback = koffi.register(listener, koffi.pointer(LogCallback));
    library.llama_log_set(this.#callback, null);
  }

  attach(set: (callback: Pointer, user: null) => void): void {
    set(this.#callback, null);
  }

  clear(): void {
    this.#errors = [];
  }

  reason(otherwise: string): string {
    const messages = this.#errors
      .map((line) => line.replace(/^(?:\w+: )+/, ''))
      .filter((line) => line !== '');
    return messages.length === 0 ? otherwise : messages.slice(0, 2).join('; ');
  }

  #write(level: number, text: string): void {
    if (level !== LOG_LEVELS.cont) this.#level = level;
    this.#line += text;
    const end = this.#line.lastIndexOf('\n');
    if (end < 0) return;
    const lines = this.#line.slice(0, end).split('\n');
    this.#line = this.#line.slice(end + 1);
    for (const line of lines) this.#tell(line.trim());
  }

  #tell(line: string): void {
    if (this.#level < LOG_LEVELS.warn || line === '') return;
    if (this.#level >= LOG_LEVELS.error) this.#errors = [...this.#errors.slice(1 - MOST_KEPT), line];
    process.stderr.write(`llama ${enumName(LOG_LEVELS, this.#level) ?? 'info'}: ${line}\n`);
  }
}
