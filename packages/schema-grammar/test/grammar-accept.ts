/** Whether a grammar accepts a text: a recogniser that needs no model. It knows no limits, so it is for tests only. */
import { type Element, parseGbnf, type Sequence } from '../src/gbnf/gbnf-parse.ts';
import { charsOf, classRanges } from './grammar-walk.ts';

export function acceptor(gbnf: string): (text: string) => boolean {
  const { rules } = parseGbnf(gbnf, (reason) => new Error(reason));
  return (text) =>
    new Recogniser(
      rules,
      [...text].map((char) => char.codePointAt(0) ?? 0),
    ).accepts();
}

interface Frame {
  readonly element: Element;
  readonly next: Frame | null;
}

/**
 * All parser stacks at once, as llama.cpp keeps them: a stack is a linked list of what must still come, and equal
 * continuations are one object, so that the set of stacks stays small.
 */
class Recogniser {
  readonly #rules: ReadonlyMap<string, readonly Sequence[]>;
  readonly #codes: readonly number[];
  readonly #frames = new Map<Element, Map<Frame | null, Frame>>();

  constructor(rules: ReadonlyMap<string, readonly Sequence[]>, codes: readonly number[]) {
    this.#rules = rules;
    this.#codes = codes;
  }

  accepts(): boolean {
    let stacks = this.#expanded([this.#frame({ kind: 'ref', name: 'root' }, null)]);
    for (const code of this.#codes) {
      const after: (Frame | null)[] = [];
      for (const frame of stacks) {
        if (frame === null || frame.element.kind !== 'terminal') continue;
        const rest = remaining(frame.element, code);
        if (rest === null) continue;
        after.push(rest === undefined ? frame.next : this.#frame(rest, frame.next));
      }
      stacks = this.#expanded(after);
      if (stacks.size === 0) return false;
    }
    return stacks.has(null);
  }

  /** Everything that may stand on top without reading a character. */
  #expanded(frames: Iterable<Frame | null>): Set<Frame | null> {
    const seen = new Set<Frame | null>();
    const found = new Set<Frame | null>();
    const open = [...frames];
    while (open.length > 0) {
      const frame = open.pop() ?? null;
      if (seen.has(frame)) continue;
      seen.add(frame);
      if (frame === null || (frame.element.kind === 'terminal' && frame.element.source !== '""')) {
        found.add(frame);
        continue;
      }
      open.push(...this.#opened(frame));
    }
    return found;
  }

  #opened({ element, next }: Frame): (Frame | null)[] {
    switch (element.kind) {
      case 'terminal':
        return [next];
      case 'ref':
        return (this.#rules.get(element.name) ?? []).map((sequence) => this.#sequence(sequence, next));
      case 'group':
        return element.alternatives.map((sequence) => this.#sequence(sequence, next));
      case 'repeat': {
        const { item, min, max } = element;
        if (max === 0) return [next];
        const rest = this.#repeats(element, {
          kind: 'repeat',
          item,
          min: Math.max(0, min - 1),
          max: max === null ? null : max - 1,
        });
        return [...(min === 0 ? [next] : []), this.#frame(item, this.#frame(rest, next))];
      }
      default:
        return element satisfies never;
    }
  }

  readonly #counted = new Map<Element, Element>();

  /** A repetition without limits goes on as itself; counted ones are made once. */
  #repeats(from: Extract<Element, { kind: 'repeat' }>, rest: Element): Element {
    if (from.min === 0 && from.max === null) return from;
    const known = this.#counted.get(from) ?? rest;
    this.#counted.set(from, known);
    return known;
  }

  #sequence(sequence: Sequence, next: Frame | null): Frame | null {
    return sequence.reduceRight<Frame | null>((after, element) => this.#frame(element, after), next);
  }

  #frame(element: Element, next: Frame | null): Frame {
    const byNext = this.#frames.get(element) ?? new Map<Frame | null, Frame>();
    this.#frames.set(element, byNext);
    const known = byNext.get(next) ?? { element, next };
    byNext.set(next, known);
    return known;
  }
}

const literals = new Map<string, Element>();

/** Null: the terminal does not begin with this character; undefined: it is read whole. */
function remaining(
  { source }: Extract<Element, { kind: 'terminal' }>,
  code: number,
): Element | null | undefined {
  if (source === '.') return undefined;
  if (source.startsWith('[')) {
    // A class with a caret is listed without it: the writer of random texts leaves control characters out of the rest.
    const listed = source.startsWith('[^') ? `[${source.slice(2)}` : source;
    const isListed = classRanges(listed).some(([from, to]) => from <= code && code <= to);
    return isListed === (listed === source) ? undefined : null;
  }
  const codes = charsOf(source.slice(1, -1));
  if (codes[0] !== code) return null;
  if (codes.length === 1) return undefined;
  const rest = `"${codes
    .slice(1)
    .map((char) => `\\U${char.toString(16).padStart(8, '0')}`)
    .join('')}"`;
  const known = literals.get(rest) ?? { kind: 'terminal', chars: codes.length - 1, source: rest };
  literals.set(rest, known);
  return known;
}
