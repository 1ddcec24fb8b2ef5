import { describe, expect, it } from 'vitest';
import type { PromptToken } from '../../../contract/job-event.ts';
import { FACTS, hiddenIn, missedFacts, RECALL } from './needle.ts';

const text = `${hiddenIn(['The sea is calm.', 'A boat waits.'], 20)}${RECALL}`;

/** The text in tokens of so many bytes; `rankAt` is asked for the place of each in the text. */
function tokensOf(size: number, rankAt: (at: number) => number): PromptToken[] {
  const bytes = [...Buffer.from(text)];
  const tokens: PromptToken[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const some = bytes.slice(at, at + size);
    tokens.push({ id: at, text: '', bytes: some, score: { logprob: -1, rank: rankAt(at), top: [] } });
  }
  return tokens;
}

describe('facts in a long text', () => {
  it('stand at their depths, and once more at the end', () => {
    for (const { name, code, depth } of FACTS) {
      const first = text.indexOf(`The code of ${name} is ${code}.`);
      expect(Math.abs(first / (text.length - RECALL.length) - depth)).toBeLessThan(0.1);
      expect(text.lastIndexOf(code)).toBeGreaterThan(text.length - RECALL.length);
    }
  });

  it.each([1, 2, 3, 7])(
    'are recalled where every token of a code is the likeliest (%d bytes a token)',
    (size) => {
      expect(missedFacts(tokensOf(size, () => 1))).toEqual([]);
      // What stands between the codes counts for nothing.
      const isCode = (at: number): boolean =>
        FACTS.some(({ code }) => {
          const begin = text.lastIndexOf(code);
          return at < begin + code.length && at + size > begin;
        });
      expect(missedFacts(tokensOf(size, (at) => (isCode(at) ? 1 : 40)))).toEqual([]);
      for (const { code, depth } of FACTS) {
        const last = text.lastIndexOf(code) + code.length - 1;
        expect(missedFacts(tokensOf(size, (at) => (at <= last && at + size > last ? 2 : 1)))).toContain(
          depth,
        );
      }
    },
  );

  it('are all missed where the end was not scored', () => {
    const tokens = tokensOf(1, () => 1).slice(0, 40);
    expect(missedFacts(tokens)).toEqual(FACTS.map(({ depth }) => depth));
  });
});
