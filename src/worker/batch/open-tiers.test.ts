import { describe, expect, it } from 'vitest';
import { kindName } from '../../lib/prompt-cache/kind.ts';
import { stateKind, type StateForm } from './open-tiers.ts';

const KIND = kindName('a'.repeat(64), []);
const kindOf = (form: Partial<StateForm> = {}): string =>
  stateKind(KIND, { numCtx: 8_192, ropeCtx: null, streams: 1, cuttable: true, ...form });

describe('what a state belongs to', () => {
  it('is the same for every window and every number of slots', () => {
    expect(kindOf({ numCtx: 512 })).toBe(KIND);
    expect(kindOf({ streams: 4 })).toBe(KIND);
    expect(kindOf({ cuttable: false })).toBe(KIND);
  });

  it('is another one beyond the window where the model rotates otherwise', () => {
    expect(kindOf({ ropeCtx: 8_192 })).toBe(KIND);
    expect(kindOf({ ropeCtx: 4_096 })).not.toBe(KIND);
    expect(kindOf({ ropeCtx: 4_096 })).toMatch(/^a{16}-[0-9a-f]{32}$/);
  });

  it('is another one for whole states of contexts with several streams', () => {
    expect(kindOf({ cuttable: false, streams: 4 })).not.toBe(KIND);
    expect(kindOf({ cuttable: false, streams: 4 })).not.toBe(kindOf({ cuttable: false, streams: 2 }));
  });
});
