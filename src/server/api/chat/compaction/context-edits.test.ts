import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../../contract/job.ts';
import {
  countChars,
  CLEARED,
  clearResults,
  clearThinking,
  headEnd,
  modelEdits,
  tailStart,
} from './context-edits.ts';
import type { ClearResults } from '../../../engine/ports.ts';

const step = (at: number, name = 'read'): Turn[] => [
  {
    role: 'assistant',
    content: '',
    reasoning: `thought ${at}`,
    toolCalls: [{ id: `c${at}`, name, argumentsJson: `{"n":${at}}` }],
  },
  { role: 'tool', content: `result ${at}`, toolCallId: `c${at}`, name },
];
const head: Turn[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Go.' },
];
const session = (steps: number): Turn[] => [
  ...head,
  ...Array.from({ length: steps }, (_, at) => step(at)).flat(),
];
const results = (fields: Partial<ClearResults> = {}): ClearResults => ({
  kind: 'results',
  trigger: { of: 'tokens', value: 0 },
  keep: 3,
  step: 1,
  atLeastTokens: 0,
  exclude: [],
  clearsInputs: false,
  ...fields,
});
const contents = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));

describe('clearing results', () => {
  it('takes the oldest, keeps the latest and touches nothing else', () => {
    const { turns, count } = clearResults(session(5), results());
    expect(count).toBe(2);
    expect(contents(turns)).toEqual([CLEARED, CLEARED, 'result 2', 'result 3', 'result 4']);
    const others = ({ role }: Turn): boolean => role !== 'tool';
    expect(turns.filter(others)).toEqual(session(5).filter(others));
  });

  it('leaves excluded tools, and clears arguments where that is asked for', () => {
    const mixed = [...session(4), ...step(4, 'find'), ...step(5)];
    const excluded = clearResults(mixed, results({ exclude: ['read'], keep: 0 }));
    expect(contents(excluded.turns)).toEqual([
      'result 0',
      'result 1',
      'result 2',
      'result 3',
      CLEARED,
      'result 5',
    ]);
    const inputsOf = (clearsInputs: boolean | string[]): string[] =>
      clearResults(mixed, results({ keep: 1, clearsInputs })).turns.flatMap(({ toolCalls = [] }) =>
        toolCalls.map(({ argumentsJson }) => argumentsJson),
      );
    expect(inputsOf(true)).toEqual(['{}', '{}', '{}', '{}', '{}', '{"n":5}']);
    expect(inputsOf(['find'])).toEqual(['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}', '{}', '{"n":5}']);
  });

  it('moves on in steps, so that a conversation that grows keeps its beginning', () => {
    const cleared = [7, 8, 9, 10, 11].map(
      (steps) => clearResults(session(steps), results({ step: 4 })).count,
    );
    expect(cleared).toEqual([4, 4, 4, 4, 8]);
  });
});

it('clearing thinking keeps that of the latest turns', () => {
  const { turns, count } = clearThinking(session(4), { kind: 'thinking', keep: 1 });
  expect(count).toBe(3);
  expect(turns.flatMap(({ reasoning }) => reasoning ?? [])).toEqual(['thought 3']);
  expect(contents(turns)).toEqual(contents(session(4)));
});

describe('what stays', () => {
  it('is never parted between a call and its result, and never begins before the first words end', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.nat(2_000), (steps, chars) => {
        const turns = session(steps);
        const start = tailStart(turns, chars);
        expect(start).toBeGreaterThanOrEqual(headEnd(turns));
        expect(turns[start]?.role).not.toBe('tool');
        if (start < turns.length - 2) expect(countChars(turns.slice(start))).toBeLessThanOrEqual(chars);
      }),
    );
  });

  it('begins with the system and the first words of the user', () => {
    expect(headEnd(session(2))).toBe(2);
    expect(headEnd(session(2).slice(1))).toBe(1);
    expect(headEnd(step(0))).toBe(0);
    expect(headEnd([])).toBe(0);
  });
});

it('a model is set to a share of its window, or to tokens', () => {
  const triggers = (compact: string | null) =>
    modelEdits(compact).map((edit) => 'trigger' in edit && edit.trigger);
  expect(triggers('75%')).toEqual([
    { of: 'window', value: 0.75 },
    { of: 'window', value: 0.75 },
  ]);
  expect(triggers('12000')).toEqual([
    { of: 'tokens', value: 12_000 },
    { of: 'tokens', value: 12_000 },
  ]);
  expect(triggers(null)).toEqual([]);
});
