import { chmodSync, copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isNamed, readTlsFiles } from './tls-files.ts';

const fixtures = new URL('../../test/fixtures/tls/', import.meta.url);

/** Copies of a pair, the key readable by its owner only, which git does not keep. */
function pair(cert = 'first', key = cert): { folder: string; tlsCert: string; tlsKey: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-tls-'));
  const files = { tlsCert: path.join(folder, 'cert.pem'), tlsKey: path.join(folder, 'key.pem') };
  copyFileSync(new URL(`${cert}.cert.pem`, fixtures), files.tlsCert);
  copyFileSync(new URL(`${key}.key.pem`, fixtures), files.tlsKey);
  chmodSync(files.tlsKey, 0o600);
  return { folder, ...files };
}

describe('the files of TLS', () => {
  it('are read where both fit, with the names of the certificate', () => {
    const files = readTlsFiles(pair());
    expect(files?.certificate.names).toEqual(['localhost', 'first.hearth.test', '127.0.0.1']);
    expect(isNamed(files!.certificate, '127.0.0.1')).toBe(true);
    expect(isNamed(files!.certificate, 'first.hearth.test')).toBe(true);
    expect(isNamed(files!.certificate, '127.0.0.2')).toBe(false);
    expect(readTlsFiles({ tlsCert: null, tlsKey: null })).toBeNull();
  });

  const encrypted = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

  it.each<[string, () => Parameters<typeof readTlsFiles>[0], RegExp]>([
    [
      'one without the other',
      () => ({ ...pair(), tlsKey: null }),
      /^SVC_TLS_KEY is not set, but SVC_TLS_CERT is/,
    ],
    [
      'the other without the one',
      () => ({ ...pair(), tlsCert: null }),
      /^SVC_TLS_CERT is not set, but SVC_TLS_KEY is/,
    ],
    [
      'the key of another certificate',
      () => pair('first', 'second'),
      /key\.pem is not the key of the certificate/,
    ],
    [
      'a file that is not there',
      () => ({ ...pair(), tlsCert: '/nowhere/c.pem' }),
      /SVC_TLS_CERT: \/nowhere\/c\.pem cannot be read \(ENOENT\)/,
    ],
    ['a folder', () => ({ ...pair(), tlsKey: tmpdir() }), /SVC_TLS_KEY: .*it is not a plain file/],
    [
      'a text that is no certificate',
      () => replaced('tlsCert', 'hello'),
      /cert\.pem is not a certificate in PEM/,
    ],
    ['a text that is no key', () => replaced('tlsKey', 'hello'), /key\.pem is not a private key in PEM/],
    [
      'an encrypted key',
      () => replaced('tlsKey', encrypted),
      /key\.pem is encrypted; decrypt it with: openssl pkey/,
    ],
  ])('are refused: %s', (_, files, sentence) => {
    expect(() => readTlsFiles(files())).toThrow(sentence);
  });

  it.skipIf(process.platform === 'win32').each([
    [0o600, true],
    [0o640, true],
    [0o400, true],
    [0o644, false],
    [0o604, false],
    [0o660, false],
    [0o602, false],
  ])('with a key of mode %o are usable: %s', (mode, isUsable) => {
    const files = pair();
    chmodSync(files.tlsKey, mode);
    const read = () => readTlsFiles(files);
    if (isUsable) expect(read()).not.toBeNull();
    else expect(read).toThrow(`chmod 600 ${files.tlsKey}`);
  });
});

function replaced(name: 'tlsCert' | 'tlsKey', text: string): Parameters<typeof readTlsFiles>[0] {
  const files = pair();
  writeFileSync(files[name], text);
  return files;
}
