/**
 * Matches a checked pattern in time linear in the text. The server validates answers with patterns from clients; a
 * backtracking engine would let one block the event loop.
 */
import { type Language, Languages } from './language.ts';
import {
  type PlainAlternative,
  type PatternNode,
  parsePattern,
  type RefusePattern,
  TOO_LARGE,
} from './pattern.ts';

type State =
  | { readonly kind: 'set'; readonly node: Extract<PatternNode, { kind: 'set' }>; next: State | null }
  | { readonly kind: 'split'; readonly branches: (State | null)[] };

export interface Matcher {
  readonly states: number;
  test(text: string): boolean;
  /** The source, because ajv keeps one matcher per source text. */
  toString(): string;
}

/** A replacement for RegExp for ajv's `code.regExp`. */
export function linearMatcher(source: string, refuse: RefusePattern = unenforced): Matcher {
  const { node, plain } = parsePattern(source, refuse);
  const toString = (): string => source;
  if (plain === null) return { ...derivativeMatcher(node, refuse), toString };
  const budget: Budget = { count: 0, refuse };
  const starts = plain.map((alternative) => ({ alternative, start: build(alternative.body, null, budget) }));
  return {
    states: budget.count,
    test: (text) => starts.some(({ alternative, start }) => run(alternative, start, text)),
    toString,
  };
}

/** Limit of derivatives per match; a text that needs more does not match. */
const MAX_DERIVATIVES = 20_000;

/** For anchors and look-ahead at any place: one cached derivative per character. */
function derivativeMatcher(node: PatternNode, refuse: RefusePattern): Omit<Matcher, 'toString'> {
  const languages = new Languages(refuse, MAX_DERIVATIVES);
  const start = languages.matching(node);
  return {
    states: languages.size,
    test(text) {
      let left: Language = start;
      for (const char of text) {
        if (left === languages.none || left === languages.everything) break;
        left = languages.after(left, char.codePointAt(0) ?? 0);
      }
      return left.nullable;
    },
  };
}

const unenforced: RefusePattern = (reason) => new Error(`a pattern cannot be enforced: ${reason}`);

interface Budget {
  count: number;
  readonly refuse: RefusePattern;
}

/** Chosen: bounds the work per character; a pattern that needs more is refused with its schema. */
const MAX_STATES = 4_000;

/** Thompson's construction, from end to start; `null` is the accepting state. */
function build(node: PatternNode, next: State | null, budget: Budget): State | null {
  budget.count += 1;
  if (budget.count > MAX_STATES) throw budget.refuse(TOO_LARGE);
  switch (node.kind) {
    case 'set':
      return { kind: 'set', node, next };
    case 'sequence':
      return node.items.reduceRight<State | null>((rest, item) => build(item, rest, budget), next);
    case 'choice':
      return { kind: 'split', branches: node.options.map((option) => build(option, next, budget)) };
    case 'repeat': {
      let tail = next;
      if (node.max === null) {
        const loop: State = { kind: 'split', branches: [next] };
        loop.branches.unshift(build(node.item, loop, budget));
        tail = loop;
      } else {
        for (let extra = node.min; extra < node.max; extra += 1)
          tail = { kind: 'split', branches: [build(node.item, tail, budget), next] };
      }
      for (let copy = 0; copy < node.min; copy += 1) tail = build(node.item, tail, budget);
      return tail;
    }
    case 'anchor':
    case 'look':
      throw budget.refuse('it looks around');
    default:
      return node satisfies never;
  }
}

function run(pattern: PlainAlternative, start: State | null, text: string): boolean {
  let live = new Set<State | null>();
  follow(start, live);
  for (const char of text) {
    if (live.has(null) && !pattern.anchoredEnd) return true;
    const code = char.codePointAt(0) ?? 0;
    const after = new Set<State | null>();
    for (const state of live)
      if (state?.kind === 'set' && accepts(state.node, code)) follow(state.next, after);
    if (!pattern.anchoredStart) follow(start, after);
    live = after;
  }
  return live.has(null);
}

/**
 * Adds a state and all states reachable without input. Iterative, because long optional chains would exhaust the
 * stack.
 */
function follow(state: State | null, into: Set<State | null>): void {
  const todo = [state];
  while (todo.length > 0) {
    const current = todo.pop() ?? null;
    if (into.has(current)) continue;
    into.add(current);
    if (current?.kind === 'split') todo.push(...current.branches);
  }
}

function accepts(node: Extract<PatternNode, { kind: 'set' }>, code: number): boolean {
  return node.ranges.some(([from, to]) => from <= code && code <= to) !== node.negated;
}
