/**
 * schema-grammar/pattern owns the regular expressions of `pattern` that a grammar can enforce: literals, classes,
 * groups, alternatives, counted repetition, anchors, look-ahead. Look-behind, back-references and word boundaries are
 * refused, never approximated. It does not know the use of the matched text.
 */

export type PatternNode =
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly CodeRange[] }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly item: PatternNode;
      readonly min: number;
      readonly max: number | null;
    }
  | { readonly kind: 'anchor'; readonly at: 'start' | 'end' }
  | { readonly kind: 'look'; readonly item: PatternNode; readonly negated: boolean };

export type CodeRange = readonly [from: number, to: number];

interface Pattern {
  readonly node: PatternNode;
  /** Null if an alternative has inner anchors or look-ahead. */
  readonly plain: readonly PlainAlternative[] | null;
}

export interface PlainAlternative {
  readonly anchoredStart: boolean;
  readonly anchoredEnd: boolean;
  readonly body: PlainNode;
}

type PlainNode = PatternNode;

export const TOO_LARGE = 'it is too large';

export type RefusePattern = (reason: string) => Error;

const MAX_PATTERN_CHARS = 2_000;
const MAX_REPEAT = 1_000;
const MAX_DEPTH = 32;

const DIGIT: CodeRange[] = [[0x30, 0x39]];
const WORD: CodeRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACE: CodeRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: CodeRange[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const UNSUPPORTED: Readonly<Record<string, string>> = {
  b: ', the edge of a word,',
  B: ', no edge of a word,',
  p: ', a property of characters,',
  P: ', a property of characters,',
  k: ', a reference to a group,',
};

const ESCAPED_CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 };

export function parsePattern(source: string, refuse: RefusePattern): Pattern {
  if (source.length > MAX_PATTERN_CHARS) throw refuse('it is too long');
  requireRegExp(source, refuse);
  return new PatternParser(source, refuse).parse();
}

/** Many patterns are written without the flag `u`, where `\-` is a hyphen anywhere. */
function requireRegExp(source: string, refuse: RefusePattern): void {
  for (const flags of ['u', '']) {
    try {
      void new RegExp(source, flags);
      return;
    } catch (error) {
      if (flags === '') throw refuse(`it is not a regular expression (${(error as Error).message})`);
    }
  }
}

class PatternParser {
  readonly #chars: readonly string[];
  readonly #refuse: RefusePattern;
  #at = 0;
  #depth = 0;

  constructor(source: string, refuse: RefusePattern) {
    this.#chars = [...source];
    this.#refuse = refuse;
  }

  parse(): Pattern {
    const options = this.#options();
    if (this.#at < this.#chars.length)
      throw this.#refuse(`"${this.#peek()}" is not supported at this position`);
    const alternatives = options.map(plainAlternative);
    const plain = alternatives.every((option) => option !== null) ? alternatives : null;
    return { node: choice(options), plain };
  }

  #options(): PatternNode[] {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options;
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    for (let char = this.#peek(); char !== undefined && char !== '|' && char !== ')'; char = this.#peek())
      items.push(this.#quantified(this.#atom()));
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'sequence', items };
  }

  #atom(): PatternNode {
    const char = this.#next();
    if (char === '(') return this.#group();
    if (char === '[') return this.#class();
    if (char === '.') return { kind: 'set', negated: true, ranges: LINE_END };
    if (char === '\\') return this.#escape();
    if (char === '^') return { kind: 'anchor', at: 'start' };
    if (char === '$') return { kind: 'anchor', at: 'end' };
    return single(char);
  }

  #group(): PatternNode {
    let look: { negated: boolean } | null = null;
    if (this.#take('?') && !this.#take(':')) {
      if (this.#take('=')) look = { negated: false };
      else if (this.#take('!')) look = { negated: true };
      else if (this.#take('<') && this.#peek() !== '=' && this.#peek() !== '!') while (this.#next() !== '>');
      else throw this.#refuse('it uses look-behind or flags');
    }
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#refuse('it is nested too deeply');
    const options = this.#options();
    this.#next();
    this.#depth -= 1;
    return look === null ? choice(options) : { kind: 'look', item: choice(options), ...look };
  }

  #quantified(item: PatternNode): PatternNode {
    let node = item;
    const char = this.#peek();
    if (char === '*' || char === '+' || char === '?') {
      this.#at += 1;
      node = { kind: 'repeat', item, min: char === '+' ? 1 : 0, max: char === '?' ? 1 : null };
    } else if (char === '{') {
      const text = this.#chars.slice(this.#at, this.#chars.indexOf('}', this.#at) + 1).join('');
      const [min = '', max] = text.slice(1, -1).split(',');
      this.#at += text.length;
      node = {
        kind: 'repeat',
        item,
        min: Number(min),
        max: max === undefined ? Number(min) : max === '' ? null : Number(max),
      };
      if (Math.max(node.min, node.max ?? 0) > MAX_REPEAT)
        throw this.#refuse(`it repeats more than ${MAX_REPEAT} times`);
    } else {
      return item;
    }
    // Lazy quantifiers match the same texts.
    this.#take('?');
    return node;
  }

  #escape(): PatternNode {
    const set = this.#classEscape();
    if (set !== null) return set;
    return single(String.fromCodePoint(this.#charEscape()));
  }

  /** \d \w \s and their opposites; null without consuming anything. */
  #classEscape(): { kind: 'set'; negated: boolean; ranges: CodeRange[] } | null {
    const char = this.#peek() ?? '';
    const ranges = { d: DIGIT, w: WORD, s: SPACE }[char.toLowerCase()];
    if (ranges === undefined) return null;
    this.#at += 1;
    return { kind: 'set', negated: char !== char.toLowerCase(), ranges };
  }

  #charEscape(): number {
    const char = this.#next();
    const control = ESCAPED_CONTROLS[char];
    if (control !== undefined) return control;
    if (char === 'x') return this.#hex(2);
    if (char === 'u') {
      if (!this.#take('{')) return this.#hex(4);
      let digits = '';
      for (let next = this.#next(); next !== '}'; next = this.#next()) digits += next;
      return Number.parseInt(digits, 16);
    }
    if (/[A-Za-z1-9]/.test(char)) throw this.#refuse(`\\${char}${UNSUPPORTED[char] ?? ''} is not supported`);
    return char.codePointAt(0) ?? 0;
  }

  #hex(length: number): number {
    const digits = this.#chars.slice(this.#at, this.#at + length).join('');
    this.#at += length;
    return Number.parseInt(digits, 16);
  }

  #class(): PatternNode {
    const negated = this.#take('^');
    const ranges: CodeRange[] = [];
    while (!this.#take(']')) {
      const from = this.#classAtom();
      if (typeof from !== 'number') {
        ranges.push(...from);
      } else if (this.#peek() === '-' && this.#chars[this.#at + 1] !== ']') {
        this.#at += 1;
        const to = this.#classAtom();
        if (typeof to !== 'number') throw this.#refuse('a range in it has no end');
        ranges.push([from, to]);
      } else {
        ranges.push([from, from]);
      }
    }
    return { kind: 'set', negated, ranges };
  }

  #classAtom(): number | CodeRange[] {
    const char = this.#next();
    if (char !== '\\') return char.codePointAt(0) ?? 0;
    if (this.#take('b')) return 8;
    if (this.#take('-')) return 0x2d;
    const set = this.#classEscape();
    if (set === null) return this.#charEscape();
    return set.negated ? complement(set.ranges) : [...set.ranges];
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #next(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw this.#refuse('it ends unexpectedly');
    this.#at += 1;
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }
}

function plainAlternative(option: PatternNode): PlainAlternative | null {
  const items = option.kind === 'sequence' ? [...option.items] : [option];
  const isAnchor = (node: PatternNode | undefined, at: string) => node?.kind === 'anchor' && node.at === at;
  const anchoredStart = isAnchor(items[0], 'start');
  if (anchoredStart) items.shift();
  const anchoredEnd = isAnchor(items.at(-1), 'end');
  if (anchoredEnd) items.pop();
  return items.every(isPlain) ? { anchoredStart, anchoredEnd, body: { kind: 'sequence', items } } : null;
}

function isPlain(node: PatternNode): boolean {
  switch (node.kind) {
    case 'set':
      return true;
    case 'sequence':
      return node.items.every(isPlain);
    case 'choice':
      return node.options.every(isPlain);
    case 'repeat':
      return isPlain(node.item);
    case 'anchor':
    case 'look':
      return false;
    default:
      return node satisfies never;
  }
}

function choice(options: readonly PatternNode[]): PatternNode {
  const [only, ...others] = options;
  return only !== undefined && others.length === 0 ? only : { kind: 'choice', options };
}

function single(char: string): PatternNode {
  const code = char.codePointAt(0) ?? 0;
  return { kind: 'set', negated: false, ranges: [[code, code]] };
}

export function complement(ranges: readonly CodeRange[]): CodeRange[] {
  const result: CodeRange[] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (from > next) result.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= 0x10ffff) result.push([next, 0x10ffff]);
  return result;
}
