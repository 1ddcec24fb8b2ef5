import { expect, it } from 'vitest';
import { ownTurn } from './own-turn.ts';

it('gives each turn of the event loop to one of those who wait, in order', async () => {
  const seen: string[] = [];
  let turn = 0;
  const count = (): void => {
    turn += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const work = async (name: string): Promise<void> => {
    for (let slice = 0; slice < 3; slice += 1) {
      await ownTurn();
      seen.push(`${name} ${turn}`);
    }
  };
  await Promise.all(['a', 'b', 'c'].map(work));
  clearImmediate(next);
  expect(seen.map((each) => each[0])).toEqual([...'abcabcabc']);
  expect(new Set(seen.map((each) => each.slice(2))).size).toBe(9);
});
