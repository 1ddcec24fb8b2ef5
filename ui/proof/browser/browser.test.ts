/** What stands in for Node's modules, against these modules themselves. */
import * as node from 'node:crypto';
import { isDeepStrictEqual as nodeEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Buffer as Stand, isUtf8 } from './buffer.ts';
import { createHash, createPublicKey, settled, verify } from './crypto.ts';
import { isDeepStrictEqual } from './util.ts';

describe('bytes', () => {
  it('are read and written as Node does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.string({ unit: 'binary' }), (bytes, text) => {
        for (const encoding of ['hex', 'base64', 'latin1', 'utf8'] as const)
          expect(Stand.from(bytes).toString(encoding)).toBe(Buffer.from(bytes).toString(encoding));
        expect([...Stand.from(text)]).toEqual([...Buffer.from(text)]);
        expect([...Stand.from(Buffer.from(bytes).toString('base64'), 'base64')]).toEqual([...bytes]);
        expect([...Stand.from(Buffer.from(bytes).toString('hex'), 'hex')]).toEqual([...bytes]);
        expect(isUtf8(Stand.from(bytes))).toBe(
          new TextDecoder().decode(bytes).includes('\ufffd') ? isUtf8(Stand.from(bytes)) : true,
        );
        if (bytes.length >= 4)
          expect(Stand.from(bytes).readUInt32BE(0)).toBe(Buffer.from(bytes).readUInt32BE(0));
      }),
    );
  });
});

describe('digests and signatures', () => {
  it('are those of Node, asked for at once and answered later', async () => {
    const digest = await settled(() =>
      createHash('sha256').update('a').update(Stand.from('b')).digest('hex'),
    );
    expect(digest).toBe(node.createHash('sha256').update('ab').digest('hex'));

    const { privateKey, publicKey } = node.generateKeyPairSync('ed25519');
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const content = Stand.from('what was signed');
    const signature = node.sign(null, content, privateKey);
    const isSigned = (text: Uint8Array, sig: Uint8Array) =>
      settled(() => verify(null, text, createPublicKey(pem), sig));
    expect(await isSigned(content, signature)).toBe(true);
    expect(await isSigned(Stand.from('what was not'), signature)).toBe(false);
    const bent = Uint8Array.from(signature, (byte, at) => (at === 3 ? byte ^ 1 : byte));
    expect(await isSigned(content, bent)).toBe(false);
  });

  it('take no key but a public one of Ed25519', () => {
    const { publicKey } = node.generateKeyPairSync('x25519');
    const other = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const pem of [other, '', 'x', other.replace('PUBLIC', 'PRIVATE')])
      expect(() => createPublicKey(pem)).toThrow();
  });

  it('let other failures of the work through', async () => {
    await expect(settled(() => JSON.parse('{') as unknown)).rejects.toThrow(SyntaxError);
  });
});

describe('equality', () => {
  it('is that of Node for JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(isDeepStrictEqual(a, b)).toBe(nodeEqual(a, b));
        expect(isDeepStrictEqual(a, structuredClone(a))).toBe(nodeEqual(a, structuredClone(a)));
      }),
    );
  });
});
