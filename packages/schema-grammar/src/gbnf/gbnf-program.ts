/**
 * A grammar as numbers: places between symbols, rules, character classes. Groups and repetitions become rules.
 * gbnf-states.ts runs it.
 */
import { type CodeRange, complement } from '../pattern/pattern.ts';
import { type Element, type ParsedGbnf, type Sequence } from './gbnf-parse.ts';

export const END = 0;
export const CHAR = 1;
export const RULE = 2;

export interface GbnfProgram {
  /** By place: END, CHAR or RULE for the symbol after the place; the next place follows that symbol. */
  readonly kind: Uint8Array;
  /** By place: the set of a CHAR, or the rule of a RULE. */
  readonly of: Int32Array;
  readonly starts: readonly (readonly number[])[];
  readonly nullable: readonly boolean[];
  /** By rule: lower than the rank of every rule that it can begin with. */
  readonly rank: Int32Array;
  readonly root: number;
  readonly classes: number;
  readonly sets: readonly Uint8Array[];
  findClass(code: number): number;
  classesWithin(from: number, to: number): readonly number[];
}

export function gbnfProgram({ rules }: ParsedGbnf): GbnfProgram {
  return new ProgramBuilder(rules).build();
}

type Symbol = { readonly set: number } | { readonly rule: number };

class ProgramBuilder {
  readonly #source: ParsedGbnf['rules'];
  readonly #ruleIds = new Map<string, number>();
  readonly #alternatives: (readonly Symbol[])[][] = [];
  readonly #sets = new Map<string, { readonly index: number; readonly ranges: readonly CodeRange[] }>();
  readonly #repeats = new Map<string, number>();
  readonly #groups = new Map<Element, number>();

  constructor(source: ParsedGbnf['rules']) {
    this.#source = source;
  }

  build(): GbnfProgram {
    for (const name of this.#source.keys()) this.#ruleIds.set(name, this.#newRule([]));
    for (const [name, sequences] of this.#source)
      this.#alternatives[this.#ruleIds.get(name) ?? 0] = sequences.map((sequence) => this.#symbols(sequence));
    const { kind, of, starts } = this.#laidOut();
    const nullable = nullableRules(this.#alternatives);
    return {
      kind,
      of,
      starts,
      nullable,
      rank: ranks(this.#alternatives, nullable),
      root: this.#ruleIds.get('root') ?? 0,
      ...characterClasses([...this.#sets.values()].map(({ ranges }) => ranges)),
    };
  }

  #newRule(alternatives: (readonly Symbol[])[]): number {
    this.#alternatives.push(alternatives);
    return this.#alternatives.length - 1;
  }

  #symbols(sequence: Sequence): Symbol[] {
    return sequence.flatMap((element) => this.#element(element));
  }

  #element(element: Element): Symbol[] {
    switch (element.kind) {
      case 'terminal':
        return terminalSets(element.source).map((ranges) => ({ set: this.#set(ranges) }));
      case 'ref':
        return [{ rule: this.#ruleIds.get(element.name) ?? 0 }];
      case 'group':
        return [{ rule: this.#group(element) }];
      case 'repeat':
        return this.#repeat(element);
      default:
        return element satisfies never;
    }
  }

  #group(element: Extract<Element, { kind: 'group' }>): number {
    const known = this.#groups.get(element);
    if (known !== undefined) return known;
    const rule = this.#newRule([]);
    this.#groups.set(element, rule);
    this.#alternatives[rule] = element.alternatives.map((sequence) => this.#symbols(sequence));
    return rule;
  }

  #repeat({ item, min, max }: Extract<Element, { kind: 'repeat' }>): Symbol[] {
    const once = this.#element(item);
    const fixed = Array.from({ length: min }, () => once).flat();
    if (max === null) return [...fixed, { rule: this.#endless(once) }];
    return max > min ? [...fixed, { rule: this.#upTo(once, max - min) }] : fixed;
  }

  #endless(once: readonly Symbol[]): number {
    const key = `${symbolsKey(once)}*`;
    const known = this.#repeats.get(key);
    if (known !== undefined) return known;
    const rule = this.#newRule([]);
    this.#repeats.set(key, rule);
    this.#alternatives[rule] = [[...once, { rule }], []];
    return rule;
  }

  #upTo(once: readonly Symbol[], count: number): number {
    const symbol = symbolsKey(once);
    let rule = -1;
    for (let copies = 1; copies <= count; copies += 1) {
      const key = `${symbol}{${copies}}`;
      const known = this.#repeats.get(key);
      const made: number = known ?? this.#newRule([rule < 0 ? [...once] : [...once, { rule }], []]);
      this.#repeats.set(key, made);
      rule = made;
    }
    return rule;
  }

  #set(ranges: readonly CodeRange[]): number {
    const key = ranges.join(' ');
    const known = this.#sets.get(key);
    if (known !== undefined) return known.index;
    const index = this.#sets.size;
    this.#sets.set(key, { index, ranges });
    return index;
  }

  #laidOut(): Pick<GbnfProgram, 'kind' | 'of' | 'starts'> {
    const length = this.#alternatives.flat().reduce((sum, symbols) => sum + symbols.length + 1, 0);
    const kind = new Uint8Array(length);
    const of = new Int32Array(length);
    let place = 0;
    const starts = this.#alternatives.map((alternatives) =>
      alternatives.map((symbols) => {
        const start = place;
        for (const symbol of symbols) {
          kind[place] = 'set' in symbol ? CHAR : RULE;
          of[place] = 'set' in symbol ? symbol.set : symbol.rule;
          place += 1;
        }
        place += 1;
        return start;
      }),
    );
    return { kind, of, starts };
  }
}

function symbolsKey(symbols: readonly Symbol[]): string {
  return symbols.map((symbol) => ('set' in symbol ? `s${symbol.set}` : `r${symbol.rule}`)).join(' ');
}

function nullableRules(rules: readonly (readonly (readonly Symbol[])[])[]): boolean[] {
  const nullable = rules.map(() => false);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [rule, alternatives] of rules.entries()) {
      if (nullable[rule]) continue;
      const isEmpty = (symbol: Symbol): boolean => 'rule' in symbol && nullable[symbol.rule] === true;
      if (!alternatives.some((symbols) => symbols.every(isEmpty))) continue;
      nullable[rule] = true;
      grown = true;
    }
  }
  return nullable;
}

/** Decreases along the rules that each can begin with; left recursion was refused before. */
function ranks(rules: readonly (readonly (readonly Symbol[])[])[], nullable: readonly boolean[]): Int32Array {
  const rank = new Int32Array(rules.length).fill(-1);
  const open = new Uint8Array(rules.length);
  let next = rules.length;
  const todo = rules.map((_, rule) => rule);
  for (let rule = todo.at(-1); rule !== undefined; rule = todo.at(-1)) {
    if (open[rule] === 1 || (rank[rule] ?? 0) >= 0) {
      todo.pop();
      if ((rank[rule] ?? 0) < 0) {
        next -= 1;
        rank[rule] = next;
      }
      continue;
    }
    open[rule] = 1;
    for (const first of firstRules(rules[rule] ?? [], nullable)) if (open[first] === 0) todo.push(first);
  }
  return rank;
}

function* firstRules(alternatives: readonly (readonly Symbol[])[], nullable: readonly boolean[]) {
  for (const symbols of alternatives) {
    for (const symbol of symbols) {
      if (!('rule' in symbol)) break;
      yield symbol.rule;
      if (nullable[symbol.rule] !== true) break;
    }
  }
}

function characterClasses(
  sets: readonly (readonly CodeRange[])[],
): Pick<GbnfProgram, 'classes' | 'sets' | 'findClass' | 'classesWithin'> {
  const cuts = new Set([0]);
  for (const [from, to] of sets.flat()) {
    cuts.add(from);
    cuts.add(to + 1);
  }
  const begins = Int32Array.from([...cuts].filter((cut) => cut <= 0x10ffff)).sort();
  const searched = (code: number): number => {
    let [low, high] = [0, begins.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((begins[middle] ?? 0) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const ascii = Int32Array.from({ length: 128 }, (_, code) => searched(code));
  const findClass = (code: number): number => (code < 128 ? (ascii[code] as number) : searched(code));
  return {
    classes: begins.length,
    sets: sets.map((ranges) => {
      const members = new Uint8Array(begins.length);
      for (const [from, to] of ranges) members.fill(1, findClass(from), findClass(to) + 1);
      return members;
    }),
    findClass,
    classesWithin: (from, to) =>
      Array.from({ length: findClass(to) - findClass(from) + 1 }, (_, index) => findClass(from) + index),
  };
}

const ESCAPES: Readonly<Record<string, number>> = { t: 9, r: 13, n: 10 };

export function terminalSets(source: string): (readonly CodeRange[])[] {
  if (source === '.') return [[[0, 0x10ffff]]];
  const chars = characters(source.slice(1, -1));
  if (source.startsWith('"')) return chars.map(({ code }) => [[code, code]]);
  const negated = chars[0]?.code === 0x5e && !chars[0].escaped;
  const members = negated ? chars.slice(1) : chars;
  const ranges: CodeRange[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at]?.code ?? 0;
    const dash = members[at + 1];
    const last = members[at + 2];
    if (dash?.code === 0x2d && !dash.escaped && last !== undefined) {
      if (from <= last.code) ranges.push([from, last.code]);
      at += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  const outside = complement(ranges);
  return [negated ? outside : complement(outside)];
}

function characters(text: string): { code: number; escaped: boolean }[] {
  const found: { code: number; escaped: boolean }[] = [];
  for (let at = 0; at < text.length; ) {
    const escape = /^\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/su.exec(
      text.slice(at, at + 10),
    );
    if (escape === null) {
      const code = text.codePointAt(at) ?? 0;
      found.push({ code, escaped: false });
      at += code > 0xffff ? 2 : 1;
    } else {
      const [whole, two, four, eight, other = ''] = escape;
      const digits = two ?? four ?? eight;
      const code =
        digits === undefined ? (ESCAPES[other] ?? other.codePointAt(0) ?? 0) : Number.parseInt(digits, 16);
      found.push({ code, escaped: true });
      at += whole.length;
    }
  }
  return found;
}
