import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { awaitsBorder, awaitsSharedPrefix, type CachedSequence, placePrompt } from './placement.ts';
import { rowTokens } from '../../media/rows.ts';
import { commonPrefix } from '../stream/common-prefix.ts';

const RULES = { owner: '', copyWorthTokens: 16 };

function sequence(id: number, tokens: readonly number[], rest: Partial<CachedSequence> = {}): CachedSequence {
  return { id, tokens, owner: '', busy: false, lastUsed: 0, ...rest };
}

function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

const system = numbers(0, 100);

describe('placePrompt', () => {
  it('continues a conversation in its own sequence', () => {
    const turn = [...system, ...numbers(1000, 50)];
    const placed = placePrompt([...turn, 7, 8, 9], [sequence(0, []), sequence(1, turn)], RULES);
    expect(placed).toMatchObject({ id: 1, keep: 150, copyFrom: null });
  });

  it('evaluates at least the last prompt token again', () => {
    expect(placePrompt(system, [sequence(0, system)], RULES)?.keep).toBe(99);
    expect(placePrompt([5], [sequence(0, [5])], RULES)?.keep).toBe(0);
  });

  it('keeps an image as a whole or not at all', () => {
    const rows = [...rowTokens({ digest: 'a', rows: 16, positions: 16 })];
    const prompt = [...system, ...rows, 7];
    const kept = (end: number) => placePrompt(prompt, [sequence(0, prompt.slice(0, end))], RULES)?.keep;
    expect([99, 100, 101, 115, 116].map(kept)).toEqual([99, 100, 100, 100, 116]);
  });

  it('copies a shared system prompt instead of destroying the conversation that holds it', () => {
    const other = [...system, ...numbers(1000, 300)];
    const placed = placePrompt([...system, 7, 8], [sequence(0, other), sequence(1, [])], RULES);
    expect(placed).toMatchObject({ id: 1, keep: 100, copyFrom: 0 });
  });

  it('copies from a busy sequence too', () => {
    const placed = placePrompt(
      [...system, 7],
      [sequence(0, [...system, 1], { busy: true }), sequence(1, [])],
      RULES,
    );
    expect(placed).toMatchObject({ id: 1, keep: 100, copyFrom: 0 });
  });

  it('does not copy what is not worth it', () => {
    const other = [...numbers(0, 10), ...numbers(1000, 300)];
    const placed = placePrompt([...numbers(0, 10), 7], [sequence(0, other), sequence(1, [])], RULES);
    expect(placed).toMatchObject({ id: 1, keep: 0, copyFrom: null });
  });

  it('counts on no more of a sequence than it can be cut back to', () => {
    const other = [...system, ...numbers(1000, 50)];
    const back = (tokens: number) => ({ ...RULES, copyWorthTokens: Infinity, reach: () => tokens });
    const prompt = [...system, 7, 8];
    const both = [sequence(0, other), sequence(1, [])];
    expect(placePrompt(prompt, both, back(0))).toMatchObject({ id: 1, keep: 0 });
    expect(placePrompt(prompt, both, back(90))).toMatchObject({ id: 0, keep: 90 });
    expect(placePrompt(prompt, both.slice(0, 1), back(0))).toMatchObject({ id: 0, keep: 0 });
    // What is continued as it is need not be cut.
    expect(placePrompt([...other, 7], both, back(0))).toMatchObject({ id: 0, keep: 150 });
  });

  it('takes the sequence that the planner chooses', () => {
    const full = [sequence(0, [1, 2], { lastUsed: 9 }), sequence(1, [3, 4], { lastUsed: 5 })];
    expect(placePrompt([7, 8], full, RULES)?.id).toBe(1);
    expect(placePrompt([7, 8], [...full, sequence(2, [], { lastUsed: 99 })], RULES)?.id).toBe(2);
  });

  it('is null when all are busy', () => {
    expect(placePrompt([1], [sequence(0, [], { busy: true })], RULES)).toBeNull();
  });

  it('only ever names a free target and a prefix that the source really holds', () => {
    const tokens = fc.array(fc.nat(2), { maxLength: 40 });
    const state = fc.record({ tokens, busy: fc.boolean(), lastUsed: fc.nat(5) });
    fc.assert(
      fc.property(
        fc.array(state, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(2), { minLength: 1 }),
        (raw, prompt) => {
          const sequences = raw.map((fields, id) => sequence(id, fields.tokens, fields));
          const placed = placePrompt(prompt, sequences, RULES);
          if (placed === null) {
            expect(sequences.every(({ busy }) => busy)).toBe(true);
            return;
          }
          expect(sequences[placed.id]?.busy).toBe(false);
          expect(placed.keep).toBeLessThan(prompt.length);
          const source = sequences[placed.copyFrom ?? placed.id]?.tokens ?? [];
          expect(commonPrefix(prompt, source)).toBeGreaterThanOrEqual(placed.keep);
        },
      ),
    );
  });
});

describe('placePrompt under LoRA adapters', () => {
  it('reuses only state of the same adapters', () => {
    const turn = [...system, ...numbers(1000, 50)];
    const states = [sequence(0, turn), sequence(1, [])];
    const rules = { ...RULES, owner: 'style=1' };
    expect(placePrompt([...turn, 7], states, rules)).toMatchObject({ id: 1, keep: 0, copyFrom: null });
    const own = states.map((state) => ({ ...state, owner: 'style=1' }));
    expect(placePrompt([...turn, 7], own, rules)).toMatchObject({ id: 0, keep: 150 });
  });
});

describe('where only neighbours share a call', () => {
  const rules = { ...RULES, neighboursShare: true };
  const place = (states: readonly CachedSequence[]) => placePrompt([7, 8], states, rules)?.id ?? -1;

  it('prompts that come together share one, whatever was used when', () => {
    const slots = fc.array(
      fc.record({ length: fc.integer({ min: 0, max: 200 }), lastUsed: fc.integer({ min: 0, max: 99 }) }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(slots, fc.nat(11), (found, wanted) => {
        let states = found.map(({ length, lastUsed }, id) =>
          sequence(id, numbers(100, length), { lastUsed }),
        );
        for (let placed = 0; placed < Math.min(wanted, found.length); placed += 1) {
          const id = place(states);
          states = states.map((state) => (state.id === id ? { ...state, busy: true } : state));
        }
        const busy = states.filter((state) => state.busy).map(({ id }) => id);
        expect(busy).toEqual(numbers(busy[0] ?? 0, busy.length));
      }),
    );
  });

  it('a prompt joins what it lies between', () => {
    const states = [true, false, true, false, false].map((busy, id) =>
      sequence(id, [], { busy, lastUsed: -id }),
    );
    expect(place(states)).toBe(1);
  });

  it('a long conversation is not given up for that', () => {
    const states = [sequence(0, [1], { busy: true }), sequence(1, numbers(100, 4000)), sequence(2, [])];
    expect(place(states)).toBe(2);
  });
});

describe('awaitsSharedPrefix', () => {
  const placement = { id: 1, keep: 20, copyFrom: null, continues: false, copyWorthTokens: 16 };
  const prompt = { prompt: [...system, 7, 8], owner: '' };

  it('waits for a prompt that will soon hold the same beginning', () => {
    expect(awaitsSharedPrefix(prompt, [{ prompt: [...system, 9], owner: '', position: 30 }], placement)).toBe(
      true,
    );
  });

  it('does not when that beginning has been prefilled, when it is short, or when a copy is worth nothing', () => {
    expect(
      awaitsSharedPrefix(prompt, [{ prompt: [...system, 9], owner: '', position: 100 }], placement),
    ).toBe(false);
    expect(
      awaitsSharedPrefix(
        prompt,
        [{ prompt: [...system.slice(0, 35), 9], owner: '', position: 0 }],
        placement,
      ),
    ).toBe(false);
    const never = { ...placement, copyWorthTokens: Number.POSITIVE_INFINITY };
    expect(awaitsSharedPrefix(prompt, [{ prompt: [...system, 9], owner: '', position: 30 }], never)).toBe(
      false,
    );
    expect(awaitsSharedPrefix(prompt, [], placement)).toBe(false);
  });

  it('does not for a prompt under other LoRA adapters', () => {
    const other = { prompt: [...system, 9], owner: 'style=1', position: 30 };
    expect(awaitsSharedPrefix(prompt, [other], placement)).toBe(false);
  });
});

describe('awaitsBorder', () => {
  const prompt = { prompt: [...system, 7, 8], owner: '' };
  const other = { prompt: [...system, 9], owner: '', position: 30, border: 90 };
  const awaits = (fields: object, keep = 0): boolean =>
    awaitsBorder(prompt, [{ ...other, ...fields }], { keep }, 16);

  it('waits for a state that is kept within what both prompts begin with', () => {
    expect(awaits({})).toBe(true);
    expect(awaits({ border: 100 })).toBe(true);
  });

  it('does not for one beyond it, for one that is there or that nobody keeps, for little more, or for another owner', () => {
    for (const fields of [{ border: 101 }, { position: 90 }, { border: null }, { owner: 'style=1' }])
      expect(awaits(fields)).toBe(false);
    expect(awaits({}, 80)).toBe(false);
  });
});
