import { describe, expect, it } from 'vitest';
import { checkedNonce } from './frozen.ts';

describe('the nonce of a frozen request', () => {
  it('is kept as it came, and may be left out', () => {
    expect(checkedNonce('n-1')).toBe('n-1');
    expect(checkedNonce(undefined)).toBeNull();
  });

  it.each(['', 'a b', 'é', 'x'.repeat(129)])(
    'is refused as %j, and the sentence names the header',
    (nonce) => {
      expect(() => checkedNonce(nonce)).toThrow(/X-Svc-Evidence-Nonce/);
    },
  );
});
