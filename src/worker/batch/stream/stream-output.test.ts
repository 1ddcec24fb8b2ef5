import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Utf8Assembler } from './stream-output.ts';

describe('utf8 assembler', () => {
  it('joins bytes cut anywhere to the same text, never a half character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(5)), (text, cuts) => {
        const bytes = Buffer.from(text, 'utf8');
        const assembler = new Utf8Assembler();
        let at = 0;
        let out = '';
        for (const length of [...cuts, bytes.length]) {
          const piece = assembler.push(bytes.subarray(at, at + length));
          expect(piece.isWellFormed()).toBe(true);
          out += piece;
          at += length;
        }
        expect(out).toBe(bytes.toString('utf8'));
      }),
    );
  });

  it('replaces what can never become a character', () => {
    const assembler = new Utf8Assembler();
    expect(assembler.push(Uint8Array.of(0x41, 0xff))).toBe('A\uFFFD');
    expect(assembler.push(Uint8Array.of(0xe2, 0x82))).toBe('');
    expect(assembler.push(Uint8Array.of(0x41))).toBe('\uFFFDA');
  });

  it('has nothing of a character that something else interrupts', () => {
    const assembler = new Utf8Assembler();
    expect(assembler.push(Uint8Array.of(0x41, 0xe2))).toBe('A');
    expect(assembler.push(Uint8Array.of(0x82))).toBe('');
    expect(assembler.halfTokens).toBe(1);
    assembler.drop();
    expect(assembler.halfTokens).toBe(0);
    expect(assembler.push(Uint8Array.of(0x42))).toBe('B');
  });

  it('keeps a byte order mark', () => {
    expect(new Utf8Assembler().push(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41))).toBe('\uFEFFA');
  });
});
