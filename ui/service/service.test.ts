import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogue, type ErrorCode } from '../../src/lib/errors/catalogue.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { deferred } from '../../src/lib/base/deferred.ts';
import { mergePatched } from '../../src/lib/base/merge-patch.ts';
import { latest } from './client.ts';
import { inPageWords } from './page-words.ts';

/** The examples of RFC 7396. */
const EXAMPLES: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('a merge patch', () => {
  it.each(EXAMPLES)('of %j by %j is %j', (value, patch, result) => {
    expect(mergePatched(value, patch)).toEqual(result);
  });

  it('leaves what it does not name as the same object, and changes nothing in place', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, patch) => {
        const before = JSON.stringify(value);
        mergePatched(value, patch);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
    const kept = { deep: [1] };
    expect((mergePatched({ kept, other: 1 }, { other: 2 }) as { kept: object }).kept).toBe(kept);
  });
});

it('an answer that comes after a later one is not shown', async () => {
  const answers = [deferred<string>(), deferred<string>()];
  const shown: string[] = [];
  const asked = [...answers];
  const ask = latest(
    () => asked.shift()?.promise ?? Promise.reject(new Error('not asked for')),
    (value) => shown.push(value),
  );
  const both = [ask(), ask()];
  answers[1]?.resolve('later');
  await both[1];
  answers[0]?.resolve('earlier');
  await both[0];
  expect(shown).toEqual(['later']);
});

describe('a refusal on the page', () => {
  /** What only whoever administers the service can mend, outside any browser. */
  const OUTSIDE = /^(?:upstream|engine|engines|key|library)_|^(?:page_user_unproven|owner_required)$/;

  it('names no command: the page has buttons', () => {
    const sentences = (Object.keys(catalogue) as ErrorCode[])
      .filter((code) => !OUTSIDE.test(code))
      .map((code) => [code, inPageWords(code, sampleOf(code))]);
    expect(sentences.length).toBeGreaterThan(50);
    expect(
      sentences.filter(([, sentence]) => /\brun: |\bhearth [a-z]+|--[a-z]+/.test(sentence ?? '')),
    ).toEqual([]);
  });

  it('keeps the cause, and says where the page has the remedy', () => {
    const { code, message } = fail('model_not_found', { model: 'acme/big' });
    expect(inPageWords(code, message)).toBe(
      'Model "acme/big" is not installed; choose another model, or install it under Models.',
    );
    const long = { promptTokens: 700, numCtx: 512, model: 'm' };
    expect(
      inPageWords(
        'context_length_exceeded',
        fail('context_length_exceeded', { ...long, maxCtx: 2048 }).message,
      ),
    ).toMatch(/takes 700 tokens.*window has 512.*new conversation, or set a larger context window/);
    expect(
      inPageWords(
        'context_length_exceeded',
        fail('context_length_exceeded', { ...long, maxCtx: 512 }).message,
      ),
    ).toMatch(/512, the most this model can use.*start a new conversation\.$/);
  });

  function sampleOf(code: ErrorCode): string {
    const { members, sentence } = catalogue[code] as {
      readonly members: Readonly<Record<string, string>>;
      readonly sentence: (detail: object) => string;
    };
    const values = Object.entries(members).map(([name, type]) => [name, type.startsWith('number') ? 7 : 'x']);
    return sentence(Object.fromEntries(values) as object);
  }
});
