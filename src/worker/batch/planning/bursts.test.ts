import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BURST_LIMITS } from './tuning.ts';
import { burst, chunkBurst } from './bursts.ts';

const { arrivalWindowMs, promptMs, burstMs } = BURST_LIMITS;

const prompt = (sequence: number, remaining: number, arrivedMs = 1_000) => ({
  sequence,
  remaining,
  position: 0,
  passedOver: 0,
  arrivedMs,
});
const pace = { msPerToken: 4, nowMs: 1_000 };
const idsOf = (prompts: readonly { readonly sequence: number }[]) => prompts.map(({ sequence }) => sequence);

describe('burst', () => {
  it('is all short prompts where nothing decodes', () => {
    expect(idsOf(burst([], [prompt(0, 40), prompt(1, 30), prompt(2, 300)], pace))).toEqual([1, 0, 2]);
  });

  it('is none where one prompt waits for nobody, and while the rate is unknown', () => {
    expect(burst([], [prompt(0, 40)], pace)).toEqual([]);
    expect(burst([], [prompt(0, 40), prompt(1, 40)], { ...pace, msPerToken: null })).toEqual([]);
    expect(burst([{ firstTokenMs: 900 }], [], pace)).toEqual([]);
  });

  it('leaves a long prompt out, which others would wait for', () => {
    const long = prompt(2, promptMs / pace.msPerToken + 1);
    expect(idsOf(burst([], [prompt(0, 40), prompt(1, 40), long], pace))).toEqual([0, 1]);
    expect(burst([], [prompt(0, 40), long], pace)).toEqual([]);
  });

  it('goes on beside a stream that began with it, and not beside one that flows', () => {
    const late = [1, 2].map((id) => prompt(id, 40, 500 + arrivalWindowMs));
    expect(idsOf(burst([{ firstTokenMs: 500 }], late, pace))).toEqual([1, 2]);
    expect(burst([{ firstTokenMs: 500 }], late.slice(1), pace)).toEqual([]);
    expect(burst([{ firstTokenMs: 499 }], late, pace)).toEqual([]);
    expect(burst([{ firstTokenMs: 500 }, { firstTokenMs: 100 }], late, pace)).toEqual([]);
    expect(burst([{ firstTokenMs: 500 }], late, { ...pace, nowMs: 501 + burstMs })).toEqual([]);
  });

  it('ends in time: who would make it too long begins later', () => {
    const each = 300;
    const many = Array.from({ length: 8 }, (_, id) => prompt(id, each));
    expect(burst([], many, pace).length).toBe(Math.floor(burstMs / (each * pace.msPerToken)));
    expect(burst([], many, { ...pace, nowMs: 1_000 + burstMs }).length).toBe(0);
  });
});

describe('chunkBurst', () => {
  const rules = { budget: 256, mostRows: 512, idle: true };
  const rowsOf = (chunks: readonly { readonly tokens: number }[]) =>
    chunks.reduce((sum, { tokens }) => sum + tokens, 0);

  it('takes all ends together when they fit, and a few rows more than the budget where nobody waits', () => {
    const three = [prompt(0, 90), prompt(1, 100), prompt(2, 110)];
    expect(chunkBurst(three, rules).map(({ tokens }) => tokens)).toEqual([90, 100, 110]);
    expect(rowsOf(chunkBurst(three, { ...rules, idle: false }))).toBe(300 - 3 * Math.floor(256 / 3));
  });

  it('takes of the longest first, and leaves an end of each', () => {
    const chunks = chunkBurst([prompt(0, 20), prompt(1, 300), prompt(2, 400)], rules);
    expect(chunks).toEqual([{ sequence: 2, tokens: 256 }]);
  });

  it('ends all prompts in the same slice, and no slice exceeds its bound', () => {
    const remaining = fc.array(fc.integer({ min: 2, max: 400 }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(remaining, fc.integer({ min: 80, max: 512 }), fc.boolean(), (lengths, budget, idle) => {
        let members = lengths.map((length, id) => prompt(id, length));
        for (let slice = 0; members.length > 0; slice += 1) {
          expect(slice).toBeLessThan(400);
          const chunks = chunkBurst(members, { budget, mostRows: 512, idle });
          expect(rowsOf(chunks)).toBeGreaterThan(0);
          expect(rowsOf(chunks)).toBeLessThanOrEqual(budget + (idle ? 63 : 0));
          const taken = new Map(chunks.map(({ sequence, tokens }) => [sequence, tokens]));
          const left = members.map((each) => ({
            ...each,
            remaining: each.remaining - (taken.get(each.sequence) ?? 0),
          }));
          const ended = left.filter((each) => each.remaining === 0).length;
          expect([0, members.length]).toContain(ended);
          members = left.filter((each) => each.remaining > 0);
        }
      }),
    );
  });

  it('goes on where there are more prompts than rows', () => {
    const many = Array.from({ length: 30 }, (_, id) => prompt(id, 1));
    expect(chunkBurst(many, { budget: 16, mostRows: 512, idle: true }).length).toBe(16);
  });
});
