/**
 * Refuses GBNF that would hang or end the process that runs it: left recursion (also through rules that may be
 * empty), rules without any finite text, copies that multiply, and starts that branch without end.
 */
import { fail } from '../errors/svc-error.ts';
import { type Element, GbnfProblem, type ParsedGbnf, parseGbnf, type Sequence } from './gbnf-parse.ts';

/** Limits for text that clients write; compiled schemas have limits of their own. */
export const MAX_CLIENT_GBNF = 64 * 1024;
/** llama.cpp refuses 2000 copies of a symbol. */
const MAX_COPIES = 1_999;
const MAX_ELEMENTS = 500_000;
/** Parser stacks that may be alive before a character is read. */
const MAX_STARTS = 4_096;

/** Checks a grammar; throws `invalid_request` with a `reason`. Returns it parsed. */
export function checkGbnf(text: string): ParsedGbnf {
  try {
    const parsed = parseGbnf(text);
    new GbnfCheck(parsed.rules).run();
    return parsed;
  } catch (error) {
    if (!(error instanceof GbnfProblem)) throw error;
    throw fail('invalid_request', {
      param: 'grammar',
      reason: error.message,
      message: `The grammar cannot be used: ${error.message}.`,
    });
  }
}

/** The check for grammars of clients: the same, and a limit on the size. */
export function checkClientGbnf(text: string): ParsedGbnf {
  if (text.length > MAX_CLIENT_GBNF)
    throw fail('invalid_request', {
      param: 'grammar',
      message: `The grammar has ${text.length} characters; at most ${MAX_CLIENT_GBNF} are accepted.`,
    });
  return checkGbnf(text);
}

/** The text with its root rule renamed, so that it can become a part of a larger grammar. */
export function renameRoot(text: string, parsed: ParsedGbnf, name: string): string {
  let result = text;
  for (const offset of parsed.rootAt.toReversed())
    result = result.slice(0, offset) + name + result.slice(offset + 'root'.length);
  return result;
}

type Rules = ReadonlyMap<string, readonly Sequence[]>;

class GbnfCheck {
  readonly #rules: Rules;
  readonly #nullable = new Set<string>();
  readonly #productive = new Set<string>();
  readonly #starts = new Map<string, number>();
  readonly #open = new Set<string>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  run(): void {
    if (!this.#rules.has('root')) throw new GbnfProblem('it has no rule "root"');
    let elements = 0;
    for (const alternatives of this.#rules.values()) elements += this.#size({ kind: 'group', alternatives });
    if (elements > MAX_ELEMENTS) throw new GbnfProblem('its repetitions multiply to too many elements');
    this.#settle(this.#nullable, (sequence) => sequence.every((element) => this.#isNullable(element)));
    this.#settle(this.#productive, (sequence) => sequence.every((element) => this.#isProductive(element)));
    for (const name of this.#rules.keys()) {
      if (!this.#productive.has(name)) throw new GbnfProblem(`"${name}" never comes to an end`);
      if (this.#startsOf(name) > MAX_STARTS) throw new GbnfProblem(`"${name}" can begin in too many ways`);
    }
  }

  /** Grows a set of rules until no alternative adds another. */
  #settle(set: Set<string>, holds: (sequence: Sequence) => boolean): void {
    for (let grown = true; grown; ) {
      grown = false;
      for (const [name, alternatives] of this.#rules)
        if (!set.has(name) && alternatives.some(holds)) {
          set.add(name);
          grown = true;
        }
    }
  }

  #size(element: Element): number {
    switch (element.kind) {
      case 'terminal':
        return Math.max(1, element.chars);
      case 'ref':
        if (!this.#rules.has(element.name))
          throw new GbnfProblem(`the rule "${element.name}" is not defined`);
        return 1;
      case 'group':
        return element.alternatives.flat().reduce((sum, item) => sum + this.#size(item), 1);
      case 'repeat': {
        const copies = element.max ?? Math.max(1, element.min);
        if (copies > MAX_COPIES) throw new GbnfProblem(`it repeats something more than ${MAX_COPIES} times`);
        return Math.max(1, copies) * this.#size(element.item);
      }
      default:
        return element satisfies never;
    }
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

  /** How many ways a rule can begin; meeting a rule again before any character is left recursion. */
  #startsOf(name: string): number {
    const known = this.#starts.get(name);
    if (known !== undefined) return known;
    if (this.#open.has(name)) throw new GbnfProblem(`"${name}" begins with itself (left recursion)`);
    if (this.#open.size > 2_000) throw new GbnfProblem('its rules are nested too deeply');
    this.#open.add(name);
    const starts = this.#startsOfAlternatives(this.#rules.get(name) ?? []);
    this.#open.delete(name);
    this.#starts.set(name, starts);
    return starts;
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
        return this.#startsOf(element.name);
      case 'group':
        return this.#startsOfAlternatives(element.alternatives);
      case 'repeat': {
        const once = this.#startsOfElement(element.item);
        if (!this.#isNullable(element.item)) return once + 1;
        if (element.max === null) throw new GbnfProblem('a part that may be empty is repeated without limit');
        return once * Math.max(1, element.max);
      }
      default:
        return element satisfies never;
    }
  }
}
