import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftRows } from './draft-rows.ts';

/** As measured on two cores with a large model: 43 ms for one row, and 4 to 8 for each one more. */
const priced =
  (plainMs: number, extraRowMs: number, streams = 1) =>
  (rows: number): number =>
    plainMs + extraRowMs * (rows - streams);
const prices = priced(43, 5);
const stream = (draftHitRate: number, draftTokens = 15) => ({ draftTokens, draftHitRate });
const undrafted = stream(0, 0);
const rules = (most: number, isEqual = false, plainMs = 43) => ({ most, isEqual, plainMs });

/** Draft tokens of each stream. */
const drafts = (streams: Parameters<typeof draftRows>[0], callMs: typeof prices, rule = rules(15)) =>
  draftRows(streams, callMs, { ...rule, plainMs: callMs(streams.length) })?.drafts ?? streams.map(() => 0);

const length = (rate: number, callMs = prices, most = 15): number =>
  drafts([stream(rate)], callMs, rules(most))[0] ?? 0;

describe('drafts', () => {
  it('are none where no draft was accepted, or there is none', () => {
    expect(draftRows([stream(0)], prices, rules(15))).toBeNull();
    expect(draftRows([undrafted], prices, rules(15))).toBeNull();
    expect(draftRows([], prices, rules(15))).toBeNull();
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
    const streams = fc.array(fc.record({ draftHitRate: hitRate, draftTokens: fc.nat({ max: 15 }) }), {
      minLength: 1,
      maxLength: 8,
    });
    const price = fc.record({
      plainMs: fc.double({ min: 10, max: 300, noNaN: true }),
      extraRowMs: fc.double({ min: 0.1, max: 60, noNaN: true }),
    });
    fc.assert(
      fc.property(streams, price, fc.boolean(), (busy, { plainMs, extraRowMs }, isEqual) => {
        const all = [undrafted, ...busy];
        const callMs = priced(plainMs, extraRowMs, all.length);
        const drafted = draftRows(all, callMs, rules(15, isEqual, plainMs));
        const rows = drafted?.rows.reduce((sum, count) => sum + 1 + count, 0);
        if (rows !== undefined) expect(plainMs / callMs(rows)).toBeGreaterThanOrEqual(0.85);
      }),
    );
  });

  it('go to the stream whose drafts are accepted, where rows may differ', () => {
    const [sure, unsure] = drafts([stream(1), stream(0.1)], priced(60, 1, 2));
    expect(sure).toBeGreaterThan(unsure ?? 0);
    const equal = draftRows([stream(1), stream(1, 3)], priced(60, 1, 2), rules(15, true, 60));
    expect(new Set(equal?.rows).size).toBe(1);
    expect(equal?.drafts[1]).toBeLessThanOrEqual(3);
  });

  it('are made for one of two streams where a row is cheap enough', () => {
    expect(drafts([stream(1), undrafted], priced(60, 1, 2))[0]).toBeGreaterThan(0);
    expect(drafts([stream(1), undrafted], priced(60, 12, 2))).toEqual([0, 0]);
  });
});
