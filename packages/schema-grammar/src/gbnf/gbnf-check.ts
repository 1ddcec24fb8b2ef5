/**
 * Refuses GBNF that would hang or crash its process: left recursion (also through rules that may be empty), rules
 * without any finite text, multiplying copies, and unbounded branching at the start.
 */
import { GrammarError } from '../grammar-error.ts';
import type { CodeRange } from '../pattern/pattern.ts';
import { terminalSets } from './gbnf-program.ts';
import { type Element, type ParsedGbnf, parseGbnf, type RefuseGbnf, type Sequence } from './gbnf-parse.ts';

/** Limit for client grammars; compiled schemas have other limits. */
const MAX_CLIENT_GBNF = 64 * 1024;
/** llama.cpp refuses 2000 copies of a symbol. */
const MAX_COPIES = 1_999;
const MAX_ELEMENTS = 500_000;
/** Limit of parser stacks before the first character. */
const MAX_STARTS = 4_096;
/** Limit of nested rules and groups at a start, which llama.cpp follows recursively. */
const MAX_CHAIN = 2_000;

/** Checks a grammar and returns it parsed; throws `refuse(reason)`. */
export function checkGbnf(text: string, refuse: RefuseGbnf = unusable): ParsedGbnf {
  const parsed = parseGbnf(text, refuse);
  new GbnfCheck(parsed.rules, refuse).run();
  return parsed;
}

const unusable: RefuseGbnf = (reason) =>
  new GrammarError('grammar', `The grammar cannot be used: ${reason}.`);

/** The check for client grammars, which also limits the size. */
export function checkClientGbnf(text: string): ParsedGbnf {
  if (text.length > MAX_CLIENT_GBNF) {
    const message = `The grammar has ${text.length} characters; at most ${MAX_CLIENT_GBNF} are accepted.`;
    throw new GrammarError('grammar', message);
  }
  return checkGbnf(text);
}

/** Renames the root rule, for use inside a larger grammar. */
export function renameRoot(text: string, parsed: ParsedGbnf, name: string): string {
  let result = text;
  for (const offset of parsed.rootAt.toReversed())
    result = result.slice(0, offset) + name + result.slice(offset + 'root'.length);
  return result;
}

type Rules = ReadonlyMap<string, readonly Sequence[]>;

class GbnfCheck {
  readonly #rules: Rules;
  readonly #refuse: RefuseGbnf;
  readonly #nullable = new Set<string>();
  readonly #productive = new Set<string>();
  readonly #starts = new Map<string, number>();

  constructor(rules: Rules, refuse: RefuseGbnf) {
    this.#rules = rules;
    this.#refuse = refuse;
  }

  run(): void {
    if (!this.#rules.has('root')) throw this.#refuse('it has no rule "root"');
    let elements = 0;
    for (const alternatives of this.#rules.values()) elements += this.#size({ kind: 'group', alternatives });
    if (elements > MAX_ELEMENTS) throw this.#refuse('its nested repetitions expand to too many elements');
    this.#settle(this.#nullable, (sequence) => sequence.every((element) => this.#isNullable(element)));
    this.#settle(this.#productive, (sequence) => sequence.every((element) => this.#isProductive(element)));
    for (const name of this.#rules.keys())
      if (!this.#productive.has(name)) throw this.#refuse(`"${name}" can never terminate`);
    for (const name of this.#leftFirst()) {
      const starts = this.#startsOfAlternatives(this.#rules.get(name) ?? []);
      if (starts > MAX_STARTS) throw this.#refuse(`"${name}" has too many possible beginnings`);
      this.#starts.set(name, starts);
    }
  }

  #settle(set: Set<string>, holds: (sequence: Sequence) => boolean): void {
    for (let grown = true; grown; ) {
      grown = false;
      for (const [name, alternatives] of this.#rules) {
        if (!set.has(name) && alternatives.some(holds)) {
          set.add(name);
          grown = true;
        }
      }
    }
  }

  #size(element: Element): number {
    switch (element.kind) {
      case 'terminal':
        this.#requireSpelled(element.source);
        return Math.max(1, element.chars);
      case 'ref':
        if (!this.#rules.has(element.name)) throw this.#refuse(`the rule "${element.name}" is not defined`);
        return 1;
      case 'group':
        return element.alternatives.flat().reduce((sum, item) => sum + this.#size(item), 1);
      case 'repeat': {
        const copies = element.max ?? Math.max(1, element.min);
        if (copies > MAX_COPIES) throw this.#refuse(`a repetition exceeds ${MAX_COPIES} copies`);
        return Math.max(1, copies) * this.#size(element.item);
      }
      default:
        return element satisfies never;
    }
  }

  #requireSpelled(source: string): void {
    if (!source.includes('\\') || terminalSets(source).every(isSpelled)) return;
    const part = source.slice(0, 60);
    throw this.#refuse(`no token spells ${part}, which has U+0000 or no character at all`);
  }

  #isNullable(element: Element): boolean {
    switch (element.kind) {
      case 'terminal':
        return element.chars === 0;
      case 'ref':
        return this.#nullable.has(element.name);
      case 'group':
        return element.alternatives.some((sequence) => sequence.every((item) => this.#isNullable(item)));
      case 'repeat':
        return element.min === 0 || this.#isNullable(element.item);
      default:
        return element satisfies never;
    }
  }

  #isProductive(element: Element): boolean {
    switch (element.kind) {
      case 'terminal':
        return true;
      case 'ref':
        return this.#productive.has(element.name);
      case 'group':
        return element.alternatives.some((sequence) => sequence.every((item) => this.#isProductive(item)));
      case 'repeat':
        return element.min === 0 || this.#isProductive(element.item);
      default:
        return element satisfies never;
    }
  }

  /**
   * The rules in an order where each follows the rules that it can begin with; meeting a rule again before any
   * character is left recursion. Iterative, because such chains can exceed the stack.
   */
  #leftFirst(): Set<string> {
    const done = new Set<string>();
    const open = new Set<string>();
    let depth = 0;
    const todo = [...this.#rules.keys()].reverse();
    for (let name = todo.at(-1); name !== undefined; name = todo.at(-1)) {
      const alternatives = this.#rules.get(name) ?? [];
      if (done.has(name) || open.has(name)) {
        if (open.delete(name)) depth -= nestingDepth(alternatives);
        done.add(name);
        todo.pop();
        continue;
      }
      open.add(name);
      depth += nestingDepth(alternatives);
      if (depth > MAX_CHAIN) throw this.#refuse('its rules are nested too deeply');
      for (const first of this.#firstRules(alternatives)) {
        if (open.has(first)) throw this.#refuse(`"${first}" begins with itself (left recursion)`);
        if (!done.has(first)) todo.push(first);
      }
    }
    return done;
  }

  *#firstRules(alternatives: readonly Sequence[]): Generator<string, void, void> {
    for (const sequence of alternatives) {
      for (const element of sequence) {
        const item = unrepeated(element);
        if (item.kind === 'ref') yield item.name;
        if (item.kind === 'group') yield* this.#firstRules(item.alternatives);
        if (!this.#isNullable(element)) break;
      }
    }
  }

  #startsOfAlternatives(alternatives: readonly Sequence[]): number {
    return alternatives.reduce((sum, sequence) => sum + this.#startsOfSequence(sequence), 0);
  }

  #startsOfSequence(sequence: Sequence): number {
    let starts = 0;
    for (const element of sequence) {
      starts += this.#startsOfElement(element);
      if (!this.#isNullable(element)) return starts;
    }
    return starts + 1;
  }

  #startsOfElement(element: Element): number {
    switch (element.kind) {
      case 'terminal':
        return 1;
      case 'ref':
        return this.#starts.get(element.name) ?? 0;
      case 'group':
        return this.#startsOfAlternatives(element.alternatives);
      case 'repeat': {
        const once = this.#startsOfElement(element.item);
        if (!this.#isNullable(element.item)) return once + 1;
        if (element.max === null) throw this.#refuse('a part that may be empty is repeated without limit');
        return once * Math.max(1, element.max);
      }
      default:
        return element satisfies never;
    }
  }
}

/** Tokens never contain U+0000 or unpaired surrogates. */
function isSpelled(ranges: readonly CodeRange[]): boolean {
  return ranges.some(([from, to]) => to > 0 && !(from >= 0xd800 && to <= 0xdfff));
}

function nestingDepth(alternatives: readonly Sequence[]): number {
  let deepest = 0;
  for (const element of alternatives.flat()) {
    const item = unrepeated(element);
    const inside = item.kind === 'group' ? nestingDepth(item.alternatives) : 0;
    deepest = Math.max(deepest, inside + (item === element ? 0 : 1));
  }
  return deepest + 1;
}

function unrepeated(element: Element): Exclude<Element, { kind: 'repeat' }> {
  return element.kind === 'repeat' ? unrepeated(element.item) : element;
}
