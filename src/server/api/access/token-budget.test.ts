import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBudget } from './token-budget.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');

describe('the tokens of a day', () => {
  it('are never exceeded, in whatever order requests reserve, resize and settle', () => {
    const act = fc.record({
      take: fc.integer({ min: 0, max: 400 }),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.infiniteStream(fc.nat(2)), (acts, choices) => {
        const budget = new TokenBudget(() => NOON, null);
        const open: { settle(): void }[] = [];
        for (const { take, used } of acts) {
          const reservation = budget.reserve('k', 1_000, take);
          const held = reservation.tokens;
          const left = budget.left('k', 1_000);
          const wanted = Math.ceil(held * (1 + used) * 0.75);
          expect(reservation.resize(wanted)).toBe(wanted - held <= left);
          expect(reservation.tokens).toBe(wanted - held <= left ? wanted : held);
          open.push({ settle: () => reservation.settle(Math.floor(reservation.tokens * used)) });
          if (choices.next().value === 0) open.shift()?.settle();
          expect(budget.used('k') + (1_000 - budget.used('k') - budget.left('k', 1_000))).toBeLessThanOrEqual(
            1_000,
          );
          expect(budget.used('k')).toBeLessThanOrEqual(1_000);
        }
        for (const each of open) each.settle();
        expect(budget.left('k', 1_000)).toBe(1_000 - budget.used('k'));
      }),
    );
  });

  it('are kept over a restart, and begin anew at midnight UTC', () => {
    let nowMs = NOON;
    const budget = new TokenBudget(() => nowMs, null);
    budget.reserve('k', 100, 60).settle(60);
    const again = new TokenBudget(() => nowMs, budget.usage);
    expect(again.left('k', 100)).toBe(40);
    nowMs += again.nextDayMs;
    expect(again.left('k', 100)).toBe(100);
    expect(new TokenBudget(() => nowMs, budget.usage).left('k', 100)).toBe(100);
  });
});
