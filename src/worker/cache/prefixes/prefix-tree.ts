/**
 * worker/cache/prefixes owns the tree of held token prefixes: the part of a prompt that they cover, and the order of
 * eviction. It is pure and knows nothing of bytes, files or the native library. A node represents the tokens after
 * those of its parent. A `rows` node holds the state of exactly its own tokens: any beginning of it can be used, but
 * only after its parents. A `whole` node holds all state up to its end, and is used as a whole or not at all.
 */
import { sharedPrefix } from './shared-prefix.ts';

type NodeKind = 'rows' | 'whole';

export interface PrefixNode<T> {
  readonly kind: NodeKind;
  readonly tokens: Uint32Array;
  readonly start: number;
  readonly parent: PrefixNode<T> | null;
  readonly children: ReadonlySet<PrefixNode<T>>;
  payload: T;
}

interface OpenNode<T> extends PrefixNode<T> {
  readonly parent: OpenNode<T> | null;
  readonly children: Set<OpenNode<T>>;
}

export interface UsedNode<T> {
  readonly node: PrefixNode<T>;
  readonly tokens: number;
}

export interface PrefixMatch<T> {
  /** From the first token of the prompt on; a `whole` node is alone. */
  readonly used: readonly UsedNode<T>[];
  readonly length: number;
  /** Tokens that the prompt shares with the best candidate, usable or not. */
  readonly common: number;
  readonly nearest: PrefixNode<T> | null;
}

export function tokensUpTo<T>(node: PrefixNode<T>): Uint32Array {
  const all = new Uint32Array(node.start + node.tokens.length);
  for (let at: PrefixNode<T> | null = node; at !== null; at = at.parent) all.set(at.tokens, at.start);
  return all;
}

export class PrefixTree<T> {
  readonly #roots = new Set<OpenNode<T>>();
  readonly #blockTokens: number;

  /** `rows` nodes end at a multiple of this number of tokens, or at the end of the state. */
  constructor(blockTokens: number) {
    this.#blockTokens = blockTokens;
  }

  get isEmpty(): boolean {
    return this.#roots.size === 0;
  }

  find(prompt: Uint32Array): PrefixMatch<T> {
    const { path, whole, common, nearest } = this.#walk(prompt);
    const last = path.at(-1);
    const length = last === undefined ? 0 : last.node.start + last.tokens;
    if (whole === null || whole.tokens.length <= length) return { used: path, length, common, nearest };
    const tokens = whole.tokens.length;
    return { used: [{ node: whole, tokens }], length: tokens, common, nearest };
  }

  /**
   * Adds the missing nodes of these tokens, and returns them in order. Replaces a shorter last node of the same
   * tokens.
   */
  addRows(
    tokens: Uint32Array,
    payload: (start: number, end: number) => T,
    onReplaced: (node: PrefixNode<T>) => void,
  ): PrefixNode<T>[] {
    const { path } = this.#walk(tokens);
    let parent =
      path.findLast(({ node, tokens: used }) => this.#isFull(node) && used === node.tokens.length)?.node ??
      null;
    const added: PrefixNode<T>[] = [];
    let start = parent === null ? 0 : parent.start + parent.tokens.length;
    while (start < tokens.length) {
      const end = Math.min(tokens.length, start - (start % this.#blockTokens) + this.#blockTokens);
      const own = tokens.slice(start, end);
      const siblings: Set<OpenNode<T>> = parent?.children ?? this.#roots;
      if ([...siblings].some((node) => node.kind === 'rows' && coversAll(node, own))) return added;
      for (const node of siblings) {
        if (node.kind !== 'rows' || node.tokens.length > own.length) continue;
        if (sharedPrefix(node.tokens, own, 0) < node.tokens.length) continue;
        onReplaced(node);
        this.remove(node);
      }
      parent = this.#add({
        kind: 'rows',
        tokens: own,
        start,
        parent,
        children: new Set(),
        payload: payload(start, end),
      });
      added.push(parent);
      start = end;
    }
    return added;
  }

  addWhole(tokens: Uint32Array, payload: () => T): PrefixNode<T> | null {
    for (const node of this.#roots) {
      if (node.kind === 'whole' && node.tokens.length === tokens.length && coversAll(node, tokens))
        return null;
    }
    return this.#add({
      kind: 'whole',
      tokens: tokens.slice(),
      start: 0,
      parent: null,
      children: new Set(),
      payload: payload(),
    });
  }

  restore(
    kind: NodeKind,
    tokens: Uint32Array,
    parent: PrefixNode<T> | null,
    payload: T,
  ): PrefixNode<T> | null {
    const open = parent as OpenNode<T> | null;
    const siblings: Set<OpenNode<T>> = open?.children ?? this.#roots;
    for (const node of siblings) {
      if (
        node.kind === kind &&
        (kind === 'rows' || node.tokens.length === tokens.length) &&
        coversAll(node, tokens)
      )
        return null;
    }
    const start = open === null ? 0 : open.start + open.tokens.length;
    return this.#add({ kind, tokens, start, parent: open, children: new Set(), payload });
  }

  remove(node: PrefixNode<T>): PrefixNode<T>[] {
    const open = node as OpenNode<T>;
    (open.parent?.children ?? this.#roots).delete(open);
    return [...withChildren([open])];
  }

  /** Parents before their children. */
  *nodes(): Generator<PrefixNode<T>> {
    yield* withChildren(this.#roots);
  }

  /** Returns the rows that the prompt begins with, the longest whole state, and the nearest candidate. */
  #walk(prompt: Uint32Array) {
    const path: { node: OpenNode<T>; tokens: number }[] = [];
    let whole: OpenNode<T> | null = null;
    let common = 0;
    let nearest: OpenNode<T> | null = null;
    let at: OpenNode<T> | null = null;
    for (;;) {
      const from: number = at === null ? 0 : at.start + at.tokens.length;
      const children: Iterable<OpenNode<T>> = at === null ? this.#roots : at.children;
      let next: { node: OpenNode<T>; tokens: number } | null = null;
      for (const node of children) {
        const tokens = sharedPrefix(node.tokens, prompt, from);
        if (nearest === null || from + tokens > common) [common, nearest] = [from + tokens, node];
        if (node.kind === 'rows') {
          if (tokens > (next?.tokens ?? 0)) next = { node, tokens };
        } else if (tokens === node.tokens.length && tokens > (whole?.tokens.length ?? 0)) {
          whole = node;
        }
      }
      if (next === null) return { path, whole, common, nearest };
      path.push(next);
      if (next.tokens < next.node.tokens.length) return { path, whole, common, nearest };
      at = next.node;
    }
  }

  #isFull(node: PrefixNode<T>): boolean {
    return (node.start + node.tokens.length) % this.#blockTokens === 0;
  }

  #add(node: OpenNode<T>): OpenNode<T> {
    (node.parent?.children ?? this.#roots).add(node);
    return node;
  }
}

/** A conversation is a long chain of nodes, so this does not recurse. */
function* withChildren<T>(roots: Iterable<PrefixNode<T>>): Generator<PrefixNode<T>> {
  const open = [roots[Symbol.iterator]()];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const next = top.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    yield next.value;
    open.push(next.value.children[Symbol.iterator]());
  }
}

function coversAll<T>(node: PrefixNode<T>, tokens: Uint32Array): boolean {
  return node.tokens.length >= tokens.length && sharedPrefix(tokens, node.tokens, 0) === tokens.length;
}
