import type { Budget } from './values/budget.ts';
import { equal } from './values/comparing.ts';
import { Callable, Namespace, orElse, Undefined, type Value } from './values/values.ts';

/** An iteration costs about as much as eight evaluated nodes, even with an empty body. */
const PER_TURN = 8;

export function* loopItems(
  items: readonly Value[],
  budget: Budget,
): Generator<{ readonly item: Value; readonly loop: Namespace }> {
  const { length } = items;
  let changed: readonly Value[] | null = null;
  for (const [i, item] of items.entries()) {
    budget.spend(PER_TURN);
    const loop = new Namespace('LoopContext', [
      ['index', i + 1],
      ['index0', i],
      ['revindex', length - i],
      ['revindex0', length - i - 1],
      ['first', i === 0],
      ['last', i === length - 1],
      ['length', length],
      ['depth', 1],
      ['depth0', 0],
      ['previtem', orElse(items[i - 1], () => new Undefined('there is no previous item'))],
      ['nextitem', orElse(items[i + 1], () => new Undefined('there is no next item'))],
      ['cycle', new Callable('cycle', ({ positional }) => positional[i % positional.length] ?? null)],
      [
        'changed',
        new Callable('changed', ({ positional }) => {
          const before = changed;
          changed = positional;
          const isSame =
            before !== null &&
            before.length === positional.length &&
            positional.every((value, at) => equal(value, before[at] ?? null, budget));
          return !isSame;
        }),
      ],
    ]);
    yield { item, loop };
  }
}
