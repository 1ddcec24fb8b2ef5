/** Writes random texts that a grammar accepts: a check of grammars that needs no model. */
import { type Element, parseGbnf, type Sequence } from '../src/gbnf/gbnf-parse.ts';

export type Random = () => number;

/** A small seeded generator (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A writer of random texts of the grammar; deep recursion turns to the alternative that ends soonest. */
export function textWriter(gbnf: string, random: Random): () => string {
  const { rules } = parseGbnf(gbnf, (reason) => new Error(reason));
  const heights = ruleHeights(rules);
  return () => randomText(rules, heights, random);
}

type Rules = ReadonlyMap<string, readonly Sequence[]>;

function randomText(rules: Rules, heights: ReadonlyMap<string, number>, random: Random): string {
  const out: string[] = [];
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const sequenceHeight = (sequence: Sequence) =>
    Math.max(0, ...sequence.map((element) => heightOf(element, heights)));
  const choose = (alternatives: readonly Sequence[], depth: number): Sequence => {
    if (depth < 40) return pick(alternatives.filter((sequence) => Number.isFinite(sequenceHeight(sequence))));
    return alternatives.reduce((best, next) => (sequenceHeight(next) < sequenceHeight(best) ? next : best));
  };
  const write = (element: Element, depth: number): void => {
    switch (element.kind) {
      case 'terminal':
        out.push(terminalText(element.source, random));
        return;
      case 'ref':
        for (const item of choose(rules.get(element.name) ?? [], depth)) write(item, depth + 1);
        return;
      case 'group':
        for (const item of choose(element.alternatives, depth)) write(item, depth + 1);
        return;
      case 'repeat': {
        const max = Math.min(element.max ?? Infinity, element.min + (depth < 40 ? 3 : 0));
        const edge =
          element.max !== null && element.max < 60 && depth < 40 && random() < 0.2 ? element.max : max;
        const count = element.min + Math.floor(random() * (edge - element.min + 1));
        for (let i = 0; i < count; i += 1) write(element.item, depth + 1);
        return;
      }
      default:
        element satisfies never;
    }
  };
  write({ kind: 'ref', name: 'root' }, 0);
  return out.join('');
}

function ruleHeights(rules: ReadonlyMap<string, readonly Sequence[]>): Map<string, number> {
  const heights = new Map<string, number>([...rules.keys()].map((name) => [name, Infinity]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, alternatives] of rules) {
      const best =
        1 + Math.min(...alternatives.map((s) => Math.max(0, ...s.map((e) => heightOf(e, heights)))));
      if (best < (heights.get(name) ?? Infinity)) {
        heights.set(name, best);
        changed = true;
      }
    }
  }
  return heights;
}

function heightOf(element: Element, heights: ReadonlyMap<string, number>): number {
  switch (element.kind) {
    case 'terminal':
      return 0;
    case 'ref':
      return heights.get(element.name) ?? Infinity;
    case 'group':
      return Math.min(...element.alternatives.map((s) => Math.max(0, ...s.map((e) => heightOf(e, heights)))));
    case 'repeat':
      return element.min === 0 ? 0 : heightOf(element.item, heights);
    default:
      return element satisfies never;
  }
}

function terminalText(source: string, random: Random): string {
  if (source.startsWith('"')) {
    return charsOf(source.slice(1, -1))
      .map((code) => String.fromCodePoint(code))
      .join('');
  }
  const ranges = classRanges(source);
  const printable = ranges.map(
    ([from, to]) => [from, random() < 0.8 ? Math.min(to, Math.max(from, 0x7e)) : to] as const,
  );
  const [from, to] = printable[Math.floor(random() * printable.length)] ?? [0x61, 0x61];
  return String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
}

export function classRanges(source: string): (readonly [number, number])[] {
  const tokens = tokenise(source.slice(source.startsWith('[^') ? 2 : 1, -1));
  const ranges: [number, number][] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const from = tokens[i]?.code ?? 0;
    if (tokens[i + 1]?.raw === '-' && i + 2 < tokens.length) {
      ranges.push([from, tokens[i + 2]?.code ?? 0]);
      i += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  if (!source.startsWith('[^')) return ranges;
  const outside: [number, number][] = [];
  let next = 0x20;
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    if (from > next) outside.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  outside.push([next, 0xd7ff]);
  return outside.filter(([from, to]) => from <= to);
}

export function charsOf(text: string): number[] {
  return tokenise(text).map((token) => token.code);
}

function tokenise(text: string): { raw: string; code: number }[] {
  const names: Record<string, number> = { t: 9, r: 13, n: 10 };
  return [...text.matchAll(/\\x(..)|\\u(....)|\\U(........)|\\(.)|([\s\S])/gu)].map((match) => {
    const hex = match[1] ?? match[2] ?? match[3];
    if (hex !== undefined) return { raw: match[0], code: Number.parseInt(hex, 16) };
    const escaped = match[4];
    if (escaped !== undefined) return { raw: match[0], code: names[escaped] ?? escaped.codePointAt(0) ?? 0 };
    return { raw: match[0], code: match[0].codePointAt(0) ?? 0 };
  });
}
