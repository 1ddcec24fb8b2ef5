/** Parses GBNF like llama.cpp, for gbnf-check.ts. Token references are not supported. */

export type Element =
  | { readonly kind: 'terminal'; readonly chars: number; readonly source: string }
  | { readonly kind: 'ref'; readonly name: string }
  | { readonly kind: 'group'; readonly alternatives: readonly Sequence[] }
  | { readonly kind: 'repeat'; readonly item: Element; readonly min: number; readonly max: number | null };
export type Sequence = readonly Element[];

export interface ParsedGbnf {
  readonly rules: ReadonlyMap<string, readonly Sequence[]>;
  readonly rootAt: readonly number[];
}

export type RefuseGbnf = (reason: string) => Error;

const MAX_NESTING = 64;
const MAX_STACKED = 8;
const NAME = /[A-Za-z0-9-]+/y;
const COUNT = /\{[ \t]*(\d{1,6})[ \t]*(,[ \t]*(?:(\d{1,6})[ \t]*)?)?\}/y;
const CHAR_ESCAPE = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[trn\\"[\]-])/y;

export function parseGbnf(text: string, refuse: RefuseGbnf): ParsedGbnf {
  return new GbnfParser(text, refuse).parse();
}

class GbnfParser {
  readonly #text: string;
  readonly #refuse: RefuseGbnf;
  readonly #rootAt: number[] = [];
  #at = 0;
  #nesting = 0;

  constructor(text: string, refuse: RefuseGbnf) {
    this.#text = text;
    this.#refuse = refuse;
  }

  parse(): ParsedGbnf {
    const rules = new Map<string, readonly Sequence[]>();
    this.#space(true);
    while (this.#at < this.#text.length) {
      const name = this.#name();
      this.#space(false);
      if (!this.#take('::=')) throw this.#problem('"::=" is expected');
      this.#space(true);
      if (rules.has(name)) throw this.#problem(`the rule "${name}" is defined twice`);
      rules.set(name, this.#alternatives(false));
      if (this.#at < this.#text.length && !/[\r\n]/.test(this.#char()))
        throw this.#problem('a new line is expected');
      this.#space(true);
    }
    return { rules, rootAt: this.#rootAt };
  }

  #alternatives(nested: boolean): Sequence[] {
    const sequences = [this.#sequence(nested)];
    while (this.#take('|')) {
      this.#space(true);
      sequences.push(this.#sequence(nested));
    }
    return sequences;
  }

  #sequence(nested: boolean): Sequence {
    const items: Element[] = [];
    for (;;) {
      const element = this.#element();
      if (element === null) return items;
      this.#space(nested);
      items.push(this.#repeated(element, nested));
    }
  }

  #element(): Element | null {
    const char = this.#char();
    if (char === '"') return this.#literal();
    if (char === '[') return this.#class();
    if (char === '(') return this.#group();
    if (char === '<' || char === '!')
      throw this.#problem('token references are not supported; write the text instead');
    if (this.#take('.')) return { kind: 'terminal', chars: 1, source: '.' };
    return /[A-Za-z0-9-]/.test(char) ? { kind: 'ref', name: this.#name() } : null;
  }

  #literal(): Element {
    const start = this.#at;
    this.#at += 1;
    let chars = 0;
    for (; this.#char() !== '"'; chars += 1) this.#one();
    this.#at += 1;
    return { kind: 'terminal', chars, source: this.#text.slice(start, this.#at) };
  }

  #class(): Element {
    const start = this.#at;
    this.#at += 1;
    this.#take('^');
    if (this.#char() === ']') throw this.#problem('an empty class matches nothing');
    while (!this.#take(']')) this.#one();
    return { kind: 'terminal', chars: 1, source: this.#text.slice(start, this.#at) };
  }

  #group(): Element {
    this.#at += 1;
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw this.#problem('groups are nested too deeply');
    this.#space(true);
    const alternatives = this.#alternatives(true);
    if (!this.#take(')')) throw this.#problem('")" is expected');
    this.#nesting -= 1;
    return { kind: 'group', alternatives };
  }

  #repeated(element: Element, nested: boolean): Element {
    let item = element;
    for (let stacked = 0; ; stacked += 1) {
      const char = this.#char();
      if (char === '{') {
        COUNT.lastIndex = this.#at;
        const match = COUNT.exec(this.#text);
        if (match === null) throw this.#problem('the repetition is not {m}, {m,} or {m,n}');
        this.#at += match[0].length;
        const min = Number(match[1]);
        const max = match[2] === undefined ? min : match[3] === undefined ? null : Number(match[3]);
        if (max !== null && max < min) throw this.#problem('the repetition has a maximum below its minimum');
        item = { kind: 'repeat', item, min, max };
      } else if (char === '*' || char === '+' || char === '?') {
        this.#at += 1;
        item = { kind: 'repeat', item, min: char === '+' ? 1 : 0, max: char === '?' ? 1 : null };
      } else {
        return item;
      }
      if (stacked === MAX_STACKED) throw this.#problem('repetitions are stacked too deeply');
      this.#space(nested);
    }
  }

  #name(): string {
    NAME.lastIndex = this.#at;
    const name = NAME.exec(this.#text)?.[0];
    if (name === undefined) throw this.#problem('a rule name is expected');
    if (name === 'root') this.#rootAt.push(this.#at);
    this.#at += name.length;
    return name;
  }

  #one(): void {
    if (this.#at >= this.#text.length) throw this.#problem('a literal or class is not closed');
    if (this.#char() !== '\\') {
      this.#at += (this.#text.codePointAt(this.#at) ?? 0) > 0xffff ? 2 : 1;
      return;
    }
    CHAR_ESCAPE.lastIndex = this.#at;
    const escape = CHAR_ESCAPE.exec(this.#text)?.[0];
    if (escape === undefined) throw this.#problem('the escape sequence is unknown');
    const code = /^\\[xuU]/.test(escape) ? Number.parseInt(escape.slice(2), 16) : 0;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      throw this.#problem(`${escape} is not a Unicode character`);
    this.#at += escape.length;
  }

  #space(newlines: boolean): void {
    const space = newlines ? /(?:[ \t\r\n]|#[^\r\n]*)*/y : /(?:[ \t]|#[^\r\n]*)*/y;
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#text)?.[0].length ?? 0;
  }

  #char(): string {
    return this.#text[this.#at] ?? '';
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #problem(message: string): Error {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    return this.#refuse(`line ${line}: ${message}`);
  }
}
