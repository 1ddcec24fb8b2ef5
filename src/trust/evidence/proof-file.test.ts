import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proofFileText, readProofFile } from './proof-file.ts';
import { readSaved } from './record-text.ts';

describe('the file of a proof', () => {
  it('gives back what was put in, byte for byte', () => {
    const optional = fc.option(fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), optional, optional, (record, request, publicKey) => {
        const text = proofFileText({ record, request, publicKey });
        expect(readProofFile(text)).toEqual({ record, request, publicKey });
      }),
      { numRuns: 50 },
    );
    const file = proofFileText({ record: '{"a": 1}', request: null, publicKey: null });
    expect(readSaved(file).value).toEqual({ a: 1 });
  });

  it.each([
    '{}',
    '{"object":"svc.proof"}',
    '{"object":"svc.proof","record":1}',
    '{"object":"svc.proof","record":"{}","request":1}',
    '{"object":"svc.proof","record":"{}","public_key":{}}',
  ])('is not %j', (text) => {
    expect(readProofFile(text)).toBeNull();
    expect(readSaved(text).value).toEqual(JSON.parse(text));
  });

  it.each(['', '{"object":"svc.proof",', '{"object":"svc.proof","record":"{}","record":"{}"}'])(
    'is not %j, which is no JSON either',
    (text) => {
      expect(readProofFile(text)).toBeNull();
      expect(() => readSaved(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
    },
  );
});
