/** The tree against a plain list of everything that is held, over random inserts, removals and questions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixTree, type PrefixNode, tokensUpTo } from './prefix-tree.ts';
import { EvictionRank } from './eviction-rank.ts';

const BLOCK = 4;

interface Payload {
  readonly bytes: number;
  readonly savesMs: number;
  rank: number;
}

/** Few different tokens, so that prefixes are shared at every length. */
const tokens = fc
  .array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 18 })
  .map((list) => Uint32Array.from(list));

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('rows' as const), tokens }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('whole' as const), tokens }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('evict' as const), budget: fc.integer({ min: 0, max: 40 }) }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('find' as const), tokens }) },
);

/** What a list knows: the tokens up to the end of each node, from all nodes that are there. */
class Model {
  readonly #tree: PrefixTree<Payload>;

  constructor(tree: PrefixTree<Payload>) {
    this.#tree = tree;
  }

  longest(prompt: Uint32Array): { usable: number; common: number } {
    let usable = 0;
    let common = 0;
    for (const node of this.#tree.nodes()) {
      const shared = sharedWith(tokensUpTo(node), prompt);
      common = Math.max(common, shared);
      if (node.kind === 'rows') usable = Math.max(usable, shared);
      else if (shared === node.tokens.length) usable = Math.max(usable, shared);
    }
    return { usable, common };
  }
}

function sharedWith(held: Uint32Array, prompt: Uint32Array): number {
  let at = 0;
  while (at < held.length && at < prompt.length && held[at] === prompt[at]) at += 1;
  return at;
}

describe('a tree of token prefixes', () => {
  it('finds what a search through everything held finds, whatever was added and evicted', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const tree = new PrefixTree<Payload>(BLOCK);
        const worth = new EvictionRank();
        const model = new Model(tree);
        const held = new Set<PrefixNode<Payload>>();
        const payload = (size: number): Payload => ({ bytes: size, savesMs: size, rank: 0 });
        const added = (node: PrefixNode<Payload>): void => {
          held.add(node);
          worth.used(node.payload);
        };
        const bytes = (): number => [...tree.nodes()].reduce((sum, node) => sum + node.payload.bytes, 0);
        for (const step of actions) {
          switch (step.type) {
            case 'rows': {
              const nodes = tree.addRows(
                step.tokens,
                (start, end) => payload(end - start),
                (node) => held.delete(node),
              );
              for (const node of nodes) added(node);
              // All of it can be had from now on.
              expect(tree.find(step.tokens).length).toBe(step.tokens.length);
              break;
            }
            case 'whole': {
              const node = tree.addWhole(step.tokens, () => payload(step.tokens.length));
              if (node !== null) added(node);
              expect(tree.find(step.tokens).length).toBe(step.tokens.length);
              break;
            }
            case 'evict': {
              while (bytes() > step.budget) {
                const mayGo = [...tree.nodes()].filter(({ children }) => children.size === 0);
                const node = worth.least(mayGo, ({ payload }) => payload);
                if (node === undefined) break;
                expect(tree.remove(node)).toEqual([node]);
                held.delete(node);
              }
              expect(bytes()).toBeLessThanOrEqual(step.budget);
              break;
            }
            case 'find': {
              const match = tree.find(step.tokens);
              const { usable, common } = model.longest(step.tokens);
              expect(match.length).toBe(usable);
              expect(match.common).toBe(common);
              const found = match.used.flatMap(({ node, tokens: used }) => [
                ...node.tokens.subarray(0, used),
              ]);
              expect(found).toEqual([...step.tokens.subarray(0, match.length)]);
            }
          }
          // Nobody is lost and nobody stays behind: the tree and the account of what was told agree.
          expect(new Set(tree.nodes())).toEqual(held);
          for (const node of tree.nodes()) if (node.parent !== null) expect(node.start % BLOCK).toBe(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps nothing twice: a longer end of the same tokens takes the place of a shorter one', () => {
    const tree = new PrefixTree<number>(BLOCK);
    const replaced: number[] = [];
    const add = (list: number[]): number =>
      tree.addRows(
        Uint32Array.from(list),
        (start) => start,
        (node) => replaced.push(node.tokens.length),
      ).length;
    expect(add([1, 2, 3, 4, 5, 6])).toBe(2);
    expect(add([1, 2, 3, 4, 5, 6, 7])).toBe(1);
    expect(add([1, 2, 3, 4, 5])).toBe(0);
    expect(replaced).toEqual([2]);
    expect([...tree.nodes()].map((node) => [...node.tokens])).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7],
    ]);
  });
});
