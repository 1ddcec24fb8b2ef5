/** Parses one tool call in an envelope: the name, then the arguments as raw JSON text. */
import type { AnswerPart } from './answer.ts';

interface CallWords {
  readonly beforeName: string;
  readonly beforeArguments: string;
  readonly close: string;
}

export class CallReader {
  readonly #words: CallWords;
  #state: 'name' | 'arguments' | 'close' | 'done' = 'name';
  #held = '';
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(words: CallWords) {
    this.#words = words;
  }

  get complete(): boolean {
    return this.#state === 'done';
  }

  push(text: string): AnswerPart[] {
    const parts: AnswerPart[] = [];
    let rest = text;
    if (this.#state === 'name') {
      this.#held += rest;
      const { beforeName, beforeArguments } = this.#words;
      const end = this.#held.indexOf(beforeArguments, beforeName.length);
      if (end < 0) return [];
      parts.push({ type: 'tool_call', name: this.#held.slice(beforeName.length, end) });
      rest = this.#held.slice(end + beforeArguments.length);
      this.#held = '';
      this.#state = 'arguments';
    }
    if (this.#state === 'arguments') {
      const length = this.#argumentsLength(rest);
      if (length > 0) parts.push({ type: 'tool_arguments', text: rest.slice(0, length) });
      rest = rest.slice(length);
    }
    if (this.#state === 'close') {
      this.#held += rest;
      if (this.#held.length >= this.#words.close.length) this.#state = 'done';
    }
    return parts;
  }

  #argumentsLength(text: string): number {
    for (let index = 0; index < text.length; index += 1) {
      const char = text[index];
      if (this.#escaped) {
        this.#escaped = false;
      } else if (this.#inString) {
        if (char === '\\') this.#escaped = true;
        else if (char === '"') this.#inString = false;
      } else if (char === '"') {
        this.#inString = true;
      } else if (char === '{' || char === '[') {
        this.#depth += 1;
      } else if (char === '}' || char === ']') {
        this.#depth -= 1;
        if (this.#depth === 0) {
          this.#state = 'close';
          return index + 1;
        }
      }
    }
    return text.length;
  }
}
