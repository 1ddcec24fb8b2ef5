/** Measures the cost of parsing a JSON text while it arrives, without parsing it. */
import type { JsonLimits } from './json-scan.ts';

const IN_STRING = /["\\]/g;
const OUTSIDE = /["[\]{},]/g;

export class JsonGauge {
  readonly #limits: JsonLimits & { readonly chars: number };
  #chars = 0;
  #depth = 0;
  #values = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(limits: JsonLimits & { readonly chars: number }) {
    this.#limits = limits;
  }

  exceeds(text: string): boolean {
    this.#chars += text.length;
    let at = this.#isEscaped && text !== '' ? 1 : 0;
    this.#isEscaped = text === '' && this.#isEscaped;
    while (at < text.length && !this.#isOver()) {
      const marks = this.#isInString ? IN_STRING : OUTSIDE;
      marks.lastIndex = at;
      const mark = marks.exec(text);
      if (mark === null) break;
      at = mark.index + this.#step(mark[0]);
    }
    this.#isEscaped ||= at > text.length;
    return this.#isOver();
  }

  #isOver(): boolean {
    const { chars, depth, tokens } = this.#limits;
    return this.#chars > chars || this.#depth > depth || this.#values > tokens;
  }

  #step(mark: string): number {
    if (mark === '\\') return 2;
    if (mark === '"') this.#isInString = !this.#isInString;
    if (mark === '[' || mark === '{') this.#depth += 1;
    if (mark === ']' || mark === '}') this.#depth -= 1;
    else if (mark !== '"' || this.#isInString) this.#values += 1;
    return 1;
  }
}
