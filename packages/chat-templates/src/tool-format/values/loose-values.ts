/** Values as models write them outside JSON: Python literals, and objects with bare keys and other quotes. */
import { isUsual, SpelledNumber } from '../../../../exact-json/src/spelled-numbers.ts';

const WORDS: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};

const NUMBER = /^(-?)(?:(\d+)(?:\.(\d*))?|\.(\d+))((?:[eE][-+]?\d+)?)$/;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '0': '\0' };

/** Chosen: no answer needs deeper values, and a reader must not exhaust the stack. */
const MAX_DEPTH = 64;

/** Undefined if it is not a value. `quote`: an additional quotation mark of strings. */
export function parseLoose(text: string, quote: string | null = null): unknown {
  const parser = new LooseParser(text, quote);
  try {
    const value = parser.value(0);
    return parser.atEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function jsonSpelling([, sign = '', whole = '', after, only, exponent = '']: RegExpExecArray): string {
  const fraction = after ?? only;
  const point = fraction === undefined ? '' : `.${fraction === '' ? '0' : fraction}`;
  return `${sign}${withoutZeros(whole)}${point}${exponent}`;
}

function withoutZeros(digits: string): string {
  const first = [...digits].findIndex((digit) => digit !== '0');
  return first < 0 ? '0' : digits.slice(first);
}

class LooseParser {
  readonly #text: string;
  readonly #quote: string | null;
  #at = 0;

  constructor(text: string, quote: string | null) {
    this.#text = text;
    this.#quote = quote;
  }

  atEnd(): boolean {
    this.#skip();
    return this.#at === this.#text.length;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new SyntaxError('too deep');
    this.#skip();
    const text = this.#string();
    if (text !== null) return text;
    if (this.#takes('[')) return this.#items(']', depth);
    if (this.#takes('(')) return this.#items(')', depth);
    if (this.#takes('{')) return this.#members(depth);
    return this.#word();
  }

  #items(close: string, depth: number): unknown[] {
    const items: unknown[] = [];
    while (!this.#takes(close)) {
      items.push(this.value(depth + 1));
      if (!this.#takes(',') && !this.#peeks(close)) throw new SyntaxError('a comma is missing');
    }
    return items;
  }

  #members(depth: number): Record<string, unknown> {
    const members: [string, unknown][] = [];
    while (!this.#takes('}')) {
      this.#skip();
      const key = this.#string() ?? this.#bareKey();
      if (!this.#takes(':')) throw new SyntaxError('a colon is missing');
      members.push([key, this.value(depth + 1)]);
      if (!this.#takes(',') && !this.#peeks('}')) throw new SyntaxError('a comma is missing');
    }
    return Object.fromEntries(members);
  }

  #bareKey(): string {
    const key = /[^\s:{}[\],]+/y;
    key.lastIndex = this.#at;
    const found = key.exec(this.#text)?.[0];
    if (found === undefined) throw new SyntaxError('a key is missing');
    this.#at += found.length;
    return found;
  }

  #word(): unknown {
    const word = /[-+.\w]+/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text)?.[0];
    if (found === undefined) throw new SyntaxError('a value is missing');
    this.#at += found.length;
    if (Object.hasOwn(WORDS, found)) return WORDS[found];
    const number = NUMBER.exec(found);
    if (number === null) throw new SyntaxError('no value');
    const spelling = jsonSpelling(number);
    return isUsual(spelling) ? Number(spelling) : new SpelledNumber(spelling);
  }

  #string(): string | null {
    const own = this.#quote;
    if (own !== null && this.#text.startsWith(own, this.#at)) {
      const end = this.#text.indexOf(own, this.#at + own.length);
      if (end < 0) throw new SyntaxError('a string does not end');
      const text = this.#text.slice(this.#at + own.length, end);
      this.#at = end + own.length;
      return text;
    }
    const quote = this.#text[this.#at];
    return quote === '"' || quote === "'" ? this.#escaped(quote) : null;
  }

  #escaped(quote: string): string {
    let out = '';
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const char = this.#text[at] ?? '';
      if (char === quote) {
        this.#at = at + 1;
        return out;
      }
      if (char !== '\\') {
        out += char;
        continue;
      }
      const letter = this.#text[at + 1] ?? '';
      const width = letter === 'u' ? 4 : letter === 'x' ? 2 : 0;
      const code = Number.parseInt(this.#text.slice(at + 2, at + 2 + width), 16);
      out += width > 0 && Number.isInteger(code) ? String.fromCharCode(code) : (ESCAPES[letter] ?? letter);
      at += 1 + (Number.isInteger(code) ? width : 0);
    }
    throw new SyntaxError('a string does not end');
  }

  #takes(char: string): boolean {
    if (!this.#peeks(char)) return false;
    this.#at += char.length;
    return true;
  }

  #peeks(char: string): boolean {
    this.#skip();
    return this.#text.startsWith(char, this.#at);
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
