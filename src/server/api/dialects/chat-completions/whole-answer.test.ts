import { describe, expect, it } from 'vitest';
import { createAnswerIds } from './whole-answer.ts';

describe('ids of whole answers', () => {
  it('are literal for the first answer of a second, and count on within it', () => {
    const next = createAnswerIds();
    expect([1_760_000_000, 1_760_000_000, 1_760_000_000, 1_760_000_001].map(next)).toEqual([
      'chatcmpl-svc-1760000000',
      'chatcmpl-svc-1760000000000001',
      'chatcmpl-svc-1760000000000002',
      'chatcmpl-svc-1760000001',
    ]);
  });

  it('are unique, digits only and in the order of their time, also when the clock is set back', () => {
    const next = createAnswerIds();
    const seconds = Array.from({ length: 3000 }, (_, at) => 1_760_000_000 + Math.floor(at / 700) - (at % 3));
    const ids = seconds.map(next);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^chatcmpl-svc-[0-9]+$/);
  });
});
