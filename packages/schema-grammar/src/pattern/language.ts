/**
 * Regular languages as expressions with intersection and complement, using Brzozowski derivatives: the derivative by
 * a character is the language of the possible rest. Equal expressions are one object, so the derivatives of a
 * language form a finite automaton.
 */
import { type CodeRange, complement, type PatternNode, type RefusePattern, TOO_LARGE } from './pattern.ts';

export type Language =
  | { readonly id: number; readonly kind: 'none' | 'empty'; readonly nullable: boolean }
  | {
      readonly id: number;
      readonly kind: 'set';
      readonly nullable: false;
      readonly ranges: readonly CodeRange[];
    }
  | {
      readonly id: number;
      readonly kind: 'cat';
      readonly nullable: boolean;
      readonly a: Language;
      readonly b: Language;
    }
  | {
      readonly id: number;
      readonly kind: 'any' | 'all';
      readonly nullable: boolean;
      readonly of: readonly Language[];
    }
  | { readonly id: number; readonly kind: 'not'; readonly nullable: boolean; readonly a: Language }
  | {
      readonly id: number;
      readonly kind: 'repeat';
      readonly nullable: boolean;
      readonly a: Language;
      readonly min: number;
      readonly max: number | null;
    };

/** Languages of one instance can be combined. */
export class Languages {
  readonly #known = new Map<string, Language>();
  readonly #derived = new Map<string, Language>();
  readonly #limit: number;
  readonly #refuse: RefusePattern;
  readonly none: Language;
  readonly empty: Language;
  readonly everything: Language;

  constructor(refuse: RefusePattern, limit = 20_000) {
    this.#refuse = refuse;
    this.#limit = limit;
    this.none = this.#make('none', { kind: 'none', nullable: false });
    this.empty = this.#make('empty', { kind: 'empty', nullable: true });
    this.everything = this.not(this.none);
  }

  get size(): number {
    return this.#known.size;
  }

  set(ranges: readonly CodeRange[]): Language {
    const merged = complement(complement(ranges));
    if (merged.length === 0) return this.none;
    return this.#make(`set ${merged.join(' ')}`, { kind: 'set', nullable: false, ranges: merged });
  }

  cat(a: Language, b: Language): Language {
    if (a === this.none || b === this.none) return this.none;
    if (a === this.empty) return b;
    if (b === this.empty) return a;
    if (a === this.everything && b === this.everything) return a;
    if (a.kind === 'cat') return this.cat(a.a, this.cat(a.b, b));
    return this.#make(`cat ${a.id} ${b.id}`, { kind: 'cat', nullable: a.nullable && b.nullable, a, b });
  }

  any(of: readonly Language[]): Language {
    const members = flattened('any', of).filter((member) => member !== this.none);
    if (members.includes(this.everything)) return this.everything;
    const sets = members.flatMap((member) => (member.kind === 'set' ? [member] : []));
    const others = members.filter((member) => member.kind !== 'set');
    const set = sets.length > 1 ? [this.set(sets.flatMap(({ ranges }) => ranges))] : sets;
    return this.#many('any', [...set, ...others], this.none);
  }

  all(of: readonly Language[]): Language {
    const members = flattened('all', of).filter((member) => member !== this.everything);
    return members.includes(this.none) ? this.none : this.#many('all', members, this.everything);
  }

  not(a: Language): Language {
    if (a.kind === 'not') return a.a;
    return this.#make(`not ${a.id}`, { kind: 'not', nullable: !a.nullable, a });
  }

  repeat(a: Language, min: number, max: number | null): Language {
    if (max === 0 || a === this.empty || (a === this.none && min === 0)) return this.empty;
    if (a === this.none) return a;
    if (min === 1 && max === 1) return a;
    const least = a.nullable ? 0 : min;
    return this.#make(`repeat ${a.id} ${least} ${max}`, {
      kind: 'repeat',
      nullable: least === 0,
      a,
      min: least,
      max,
    });
  }

  text(text: string): Language {
    return [...text].reduceRight<Language>((rest, char) => {
      const code = char.codePointAt(0) ?? 0;
      return this.cat(this.set([[code, code]]), rest);
    }, this.empty);
  }

  matching(node: PatternNode): Language {
    const any = this.set([[0, 0x10ffff]]);
    return this.any([
      this.#lowered(node, this.everything, true),
      this.cat(any, this.cat(this.everything, this.#lowered(node, this.everything, false))),
    ]);
  }

  after(language: Language, code: number): Language {
    const key = `${language.id} ${code}`;
    const known = this.#derived.get(key);
    if (known !== undefined) return known;
    const derived = this.#derive(language, code);
    this.#derived.set(key, derived);
    return derived;
  }

  #lowered(node: PatternNode, rest: Language, atStart: boolean): Language {
    switch (node.kind) {
      case 'set':
        return this.cat(this.set(node.negated ? complement(node.ranges) : node.ranges), rest);
      case 'sequence':
        return this.#sequence(node.items, rest, atStart);
      case 'choice':
        return this.any(node.options.map((option) => this.#lowered(option, rest, atStart)));
      case 'repeat':
        return this.#repeated(node, rest, atStart);
      case 'anchor':
        if (node.at === 'start') return atStart ? rest : this.none;
        return rest.nullable ? this.empty : this.none;
      case 'look': {
        const ahead = this.#lowered(node.item, this.everything, atStart);
        return this.all([node.negated ? this.not(ahead) : ahead, rest]);
      }
      default:
        return node satisfies never;
    }
  }

  #sequence(items: readonly PatternNode[], rest: Language, atStart: boolean): Language {
    const starts = items.map((_, index) => atStart && items.slice(0, index).every(isZeroWidth));
    return items.reduceRight<Language>((after, item, index) => {
      const start = starts[index] ?? false;
      if (atStart && !start && asksForStart(item))
        throw this.#refuse('it has an anchor at a place where it may or may not hold');
      return this.#lowered(item, after, start);
    }, rest);
  }

  #repeated(node: Extract<PatternNode, { kind: 'repeat' }>, rest: Language, atStart: boolean): Language {
    const { item, min, max } = node;
    if (!looksAround(item))
      return this.cat(this.repeat(this.#lowered(item, this.empty, false), min, max), rest);
    if (max !== 1) throw this.#refuse('it repeats an anchor or a look-ahead');
    const once = this.#lowered(item, rest, atStart);
    return min === 1 ? once : this.any([once, rest]);
  }

  #derive(language: Language, code: number): Language {
    switch (language.kind) {
      case 'none':
      case 'empty':
        return this.none;
      case 'set':
        return language.ranges.some(([from, to]) => from <= code && code <= to) ? this.empty : this.none;
      case 'cat': {
        const { a, b } = language;
        const first = this.cat(this.after(a, code), b);
        return a.nullable ? this.any([first, this.after(b, code)]) : first;
      }
      case 'any':
        return this.any(language.of.map((member) => this.after(member, code)));
      case 'all':
        return this.all(language.of.map((member) => this.after(member, code)));
      case 'not':
        return this.not(this.after(language.a, code));
      case 'repeat': {
        const { a, min, max } = language;
        const left = this.repeat(a, Math.max(0, min - 1), max === null ? null : max - 1);
        return this.cat(this.after(a, code), left);
      }
      default:
        return language satisfies never;
    }
  }

  #many(kind: 'any' | 'all', of: readonly Language[], neutral: Language): Language {
    const members = [...new Map(of.map((member) => [member.id, member])).values()];
    const [only, ...others] = members;
    if (only === undefined) return neutral;
    if (others.length === 0) return only;
    members.sort((x, y) => x.id - y.id);
    const nullable =
      kind === 'any' ? members.some((member) => member.nullable) : members.every((member) => member.nullable);
    return this.#make(`${kind} ${members.map(({ id }) => id).join(' ')}`, { kind, nullable, of: members });
  }

  #make(key: string, language: DistributiveOmit<Language, 'id'>): Language {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#limit) throw this.#refuse(TOO_LARGE);
    const made = { ...language, id: this.#known.size } as Language;
    this.#known.set(key, made);
    return made;
  }
}

type DistributiveOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never;

function flattened(kind: 'any' | 'all', of: readonly Language[]): readonly Language[] {
  return of.flatMap((member) => (member.kind === kind ? member.of : [member]));
}

function isZeroWidth(node: PatternNode): boolean {
  return node.kind === 'anchor' || node.kind === 'look';
}

function asksForStart(node: PatternNode): boolean {
  return someNode(node, (inner) => inner.kind === 'anchor' && inner.at === 'start');
}

function looksAround(node: PatternNode): boolean {
  return someNode(node, isZeroWidth);
}

function someNode(node: PatternNode, holds: (node: PatternNode) => boolean): boolean {
  if (holds(node)) return true;
  if (node.kind === 'sequence') return node.items.some((item) => someNode(item, holds));
  if (node.kind === 'choice') return node.options.some((item) => someNode(item, holds));
  return node.kind === 'repeat' || node.kind === 'look' ? someNode(node.item, holds) : false;
}
