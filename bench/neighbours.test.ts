import { describe, expect, it } from 'vitest';
import { compareNeighbours, inTurn, ratioText } from './neighbours.ts';

describe('compareNeighbours', () => {
  it('takes the median of the ratios, not the ratio of the medians', () => {
    const pairs = [
      { a: { speed: 10 }, b: { speed: 20 } },
      { a: { speed: 60 }, b: { speed: 40 } },
      { a: { speed: 90 }, b: { speed: 30 } },
    ];
    const [found] = compareNeighbours(pairs);
    expect(found).toEqual({ figure: 'speed', a: 60, b: 30, ratio: 1.5, least: 0.5, most: 3, rounds: 3 });
    expect(found && ratioText(found)).toBe('1.50 (0.50 to 3.00)');
  });

  it('gives no ratio where both sides have nothing', () => {
    const [found] = compareNeighbours([{ a: { right: 0 }, b: { right: 0 } }]);
    expect(found && ratioText(found)).toBe('');
  });

  it('leaves out a round in which one side lacks the figure, and a figure that no round has of both', () => {
    const pairs = [
      { a: { gap: 4, only: 1 }, b: { gap: 2 } },
      { a: { gap: 9 }, b: {} },
    ];
    expect(compareNeighbours(pairs)).toEqual([
      { figure: 'gap', a: 4, b: 2, ratio: 2, least: 2, most: 2, rounds: 1 },
    ]);
  });
});

describe('inTurn', () => {
  it('changes who goes first from round to round', async () => {
    const order: string[] = [];
    const run = (name: string, speed: number) => async () => {
      order.push(name);
      return { speed };
    };
    for (const round of [0, 1]) {
      const pair = await inTurn(round, run('a', 1), run('b', 2));
      expect(pair).toEqual({ a: { speed: 1 }, b: { speed: 2 } });
    }
    expect(order).toEqual(['a', 'b', 'b', 'a']);
  });
});
