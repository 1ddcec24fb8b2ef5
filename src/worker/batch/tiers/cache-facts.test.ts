import { describe, expect, it } from 'vitest';
import { cacheFacts, type Reuse } from './cache-facts.ts';

const prompt = Uint32Array.from({ length: 100 }, (_, i) => i);

function facts(reuse: Partial<Reuse>) {
  return cacheFacts({
    prompt,
    slotTokens: 0,
    ramTokens: 0,
    diskTokens: 0,
    restoreMs: 0,
    nearest: null,
    refusal: 'not_worth',
    wasHeld: false,
    ...reuse,
  });
}

describe('what a request is told of its prompt', () => {
  it('names no miss where the prompt goes on behind what was held', () => {
    expect(facts({ slotTokens: 60, nearest: { common: 60, tokens: prompt.slice(0, 60) } })).toEqual({
      slotTokens: 60,
      ramTokens: 0,
      diskTokens: 0,
      restoreMs: 0,
    });
  });

  it('shows both sides of the first difference', () => {
    const tokens = Uint32Array.from(prompt, (token) => (token === 40 ? 777 : token));
    const { miss } = facts({ diskTokens: 40, nearest: { common: 40, tokens } });
    expect(miss).toMatchObject({ reason: 'differs', commonTokens: 40, before: 16 });
    expect(miss?.wanted.slice(16, 18)).toEqual([40, 41]);
    expect(miss?.held.slice(15, 18)).toEqual([39, 777, 41]);
  });

  it.each<[string, Partial<Reuse>]>([
    ['cold', {}],
    ['evicted', { wasHeld: true }],
    ['not_worth', { slotTokens: 10, nearest: { common: 60, tokens: prompt } }],
    ['no_checkpoint', { slotTokens: 10, nearest: { common: 60, tokens: prompt }, refusal: 'no_checkpoint' }],
    ['damaged', { nearest: { common: 60, tokens: prompt }, refusal: 'damaged' }],
  ])('says %s', (reason, reuse) => {
    expect(facts(reuse).miss?.reason).toBe(reason);
  });
});
