import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { readCertificate } from '../../config/tls-files.ts';
import { judgeAnswers, judgeCertificate } from './address.ts';

describe('a look at the address', () => {
  it.each([
    [200, 401, 'ok'],
    [403, 403, 'problem'],
    [200, 200, 'problem'],
    [400, 400, 'problem'],
  ])('with answers %d and %d without a key: %s', (health, models, verdict) => {
    expect(judgeAnswers('http://192.0.2.7:1', health, models).verdict).toBe(verdict);
  });

  const certificate = readCertificate(
    fileURLToPath(new URL('../../../test/fixtures/tls/first.cert.pem', import.meta.url)),
  );
  const until = Date.parse(certificate.leaf.validTo);
  const day = 86_400_000;
  it.each([
    [until - 15 * day, 'ok', 'for 15 more days'],
    [until - 13 * day, 'warning', 'for 13 more days'],
    [until + 1, 'problem', 'expired on'],
    [0, 'problem', 'is not valid before'],
  ])('at %d judges the certificate: %s', (now, verdict, found) => {
    expect(judgeCertificate(certificate, now)).toMatchObject({
      verdict,
      found: expect.stringContaining(found),
    });
  });

  it('finds a certificate without names', () => {
    expect(judgeCertificate({ ...certificate, names: [] }, until - 99 * day)).toMatchObject({
      verdict: 'problem',
      found: expect.stringContaining('subjectAltName'),
    });
  });
});
