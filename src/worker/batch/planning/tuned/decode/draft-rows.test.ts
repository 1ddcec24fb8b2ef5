import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftCalls, type DraftPrices, type DraftRules } from './draft-rows.ts';

/** As measured on two cores with a large model: 43 ms for one row, and 4 to 8 for each one more. */
const priced = (plainMs: number, extraRowMs: number, streams = 1): DraftPrices => ({
  plainMs,
  callMs: (rows) => plainMs + extraRowMs * (rows - streams),
  rowDepthMs: 0,
});
const prices = priced(43, 5);
const stream = (draftHitRate: number, draftTokens = 15) => ({ draftTokens, draftHitRate, position: 100 });
const undrafted = stream(0, 0);
const rules = (most: number, more: Partial<DraftRules> = {}): DraftRules => ({
  most,
  together: 'any lengths',
  apart: false,
  ...more,
});

/** Draft tokens of each stream. */
const drafts = (streams: Parameters<typeof draftCalls>[0], by: DraftPrices, rule: DraftRules = rules(15)) =>
  draftCalls(streams, by, rule)?.flatMap((call) => call.drafts) ?? streams.map(() => 0);

const length = (rate: number, by: DraftPrices = prices, most = 15): number =>
  drafts([stream(rate)], by, rules(most))[0] ?? 0;

describe('drafts', () => {
  it('are none where no draft was accepted, or there is none', () => {
    expect(draftCalls([stream(0)], prices, rules(15))).toBeNull();
    expect(draftCalls([undrafted], prices, rules(15))).toBeNull();
    expect(draftCalls([], prices, rules(15))).toBeNull();
  });

  it('grow with the hit rate', () => {
    const lengths = [0.2, 0.5, 0.8, 0.95, 1].map((rate) => length(rate));
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(lengths[0]).toBeLessThanOrEqual(1);
    expect(lengths[2]).toBeGreaterThanOrEqual(3);
    expect(lengths[4]).toBe(15);
  });

  it('are none where a row costs as much as it can gain', () => {
    expect(length(0.9, priced(43, 43))).toBe(0);
    expect(length(0.3, priced(43, 15))).toBe(0);
    expect(length(0.9, { ...prices, rowDepthMs: 0.5 })).toBe(0);
  });

  it('are fewer where a model takes time for each of them', () => {
    const drafted = (draftMsPerToken: number) =>
      drafts([{ ...stream(0.8), draftMsPerToken }], prices)[0] ?? 0;
    expect(drafted(5)).toBeLessThan(drafted(0));
    expect(drafted(5)).toBeGreaterThan(0);
    expect(drafted(50)).toBe(0);
  });

  it('never exceed the draft, the setting or the rows of a step', () => {
    expect(drafts([stream(1, 4)], prices)).toEqual([4]);
    expect(length(1, prices, 6)).toBe(6);
    const eight = Array<ReturnType<typeof stream>>(8).fill(stream(1));
    const each = drafts(eight, priced(100, 1, 8));
    expect(each.reduce((sum, count) => sum + count, 0) + 8).toBeLessThanOrEqual(32);
    expect(Math.min(...each)).toBeGreaterThanOrEqual(3);
  });

  it('slow no stream by more than 15 % for those of others', () => {
    const hitRate = fc.double({ min: 0, max: 1, noNaN: true });
    const streams = fc.array(
      fc.record({ draftHitRate: hitRate, draftTokens: fc.nat({ max: 15 }), position: fc.nat({ max: 999 }) }),
      { minLength: 1, maxLength: 8 },
    );
    const price = fc.record({
      plainMs: fc.double({ min: 10, max: 300, noNaN: true }),
      extraRowMs: fc.double({ min: 0.1, max: 60, noNaN: true }),
    });
    const together = fc.constantFrom('any lengths' as const, 'equal lengths' as const);
    fc.assert(
      fc.property(streams, price, together, (busy, { plainMs, extraRowMs }, lengths) => {
        const all = [undrafted, ...busy];
        const by = priced(plainMs, extraRowMs, all.length);
        const calls = draftCalls(all, by, rules(15, { together: lengths })) ?? [];
        const rows = calls.flatMap((call) => call.rows).reduce((sum, count) => sum + 1 + count, 0);
        if (calls.length > 0) expect(plainMs / by.callMs(rows)).toBeGreaterThanOrEqual(0.85);
      }),
    );
  });

  it('go to the stream whose drafts are accepted, where rows may differ', () => {
    const [sure, unsure] = drafts([stream(1), stream(0.1)], priced(60, 1, 2));
    expect(sure).toBeGreaterThan(unsure ?? 0);
    const [call] =
      draftCalls([stream(1), stream(1, 3)], priced(60, 1, 2), rules(15, { together: 'equal lengths' })) ?? [];
    expect(new Set(call?.rows).size).toBe(1);
    expect(call?.drafts[1]).toBeLessThanOrEqual(3);
  });

  it('are made for one of two streams where a row is cheap enough', () => {
    expect(drafts([stream(1), undrafted], priced(60, 1, 2))[0]).toBeGreaterThan(0);
    expect(drafts([stream(1), undrafted], priced(60, 12, 2))).toEqual([0, 0]);
  });

  it('come in one call for each stream where two rows cost more than two calls', () => {
    const by: DraftPrices = { plainMs: 50, callMs: (rows) => [0, 25, 75, 78, 80][rows] ?? 82, rowDepthMs: 0 };
    const both = [stream(0.95), stream(0.95)];
    expect(draftCalls(both, by, rules(15, { apart: true, together: 'never' }))?.length).toBe(2);
    expect(draftCalls(both, by, rules(15, { apart: true }))?.length).toBe(1);
  });
});
