import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { fail, errorMessage, type SvcError } from '../lib/errors/svc-error.ts';
import type { SettingValues } from './settings.ts';

type TlsPaths = Pick<SettingValues, 'tlsCert' | 'tlsKey'>;

export interface Certificate {
  readonly file: string;
  readonly pem: string;
  readonly leaf: X509Certificate;
  readonly names: readonly string[];
}

export interface TlsFiles {
  readonly certificate: Certificate;
  readonly key: string;
}

/**
 * Group members may read the key, as packages of certificates arrange it; all others may not, and only its owner may
 * write.
 */
const FORBIDDEN_MODE = 0o027;

/** Null for plain http; throws if a file is missing, unsafe or does not fit. */
export function readTlsFiles({ tlsCert, tlsKey }: TlsPaths): TlsFiles | null {
  if (tlsCert === null && tlsKey === null) return null;
  if (tlsCert === null) throw refused('SVC_TLS_CERT', 'is not set, but SVC_TLS_KEY is; set both, or neither');
  if (tlsKey === null) throw refused('SVC_TLS_KEY', 'is not set, but SVC_TLS_CERT is; set both, or neither');
  const certificate = readCertificate(tlsCert);
  const key = readText('SVC_TLS_KEY', tlsKey);
  refuseOpenKey(tlsKey);
  if (!certificate.leaf.checkPrivateKey(readPrivateKey(tlsKey, key))) {
    throw refused(
      'SVC_TLS_KEY',
      `${tlsKey} is not the key of the certificate ${tlsCert}; set the file that was made with it`,
    );
  }
  return { certificate, key };
}

export function readCertificate(file: string): Certificate {
  const pem = readText('SVC_TLS_CERT', file);
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(pem);
  } catch (cause) {
    throw refused(
      'SVC_TLS_CERT',
      `${file} is not a certificate in PEM; it must begin with -----BEGIN CERTIFICATE-----`,
      cause,
    );
  }
  return { file, pem, leaf, names: certificateNames(leaf) };
}

export function isNamed({ leaf }: Certificate, host: string): boolean {
  return (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined;
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** No authority signed the certificate, so clients must trust the file itself. */
export function isOwnAuthority({ pem }: Certificate): boolean {
  return (pem.match(PEM_BLOCK) ?? []).some((block) => {
    const certificate = new X509Certificate(block);
    return certificate.checkIssued(certificate);
  });
}

/** Node returns the names as one text: DNS:a.example, IP Address:127.0.0.1. */
function certificateNames({ subjectAltName = '' }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )(?:DNS|IP Address):([^,"]+)/g)].map(([, name = '']) =>
    name.toLowerCase(),
  );
}

function readPrivateKey(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_MISSING_PASSPHRASE' || /ENCRYPTED/.test(pem)) {
      throw refused(
        'SVC_TLS_KEY',
        `${file} is encrypted; decrypt it with: openssl pkey -in ${file} -out NEW_FILE`,
        cause,
      );
    }
    throw refused(
      'SVC_TLS_KEY',
      `${file} is not a private key in PEM; it must begin with -----BEGIN PRIVATE KEY-----`,
      cause,
    );
  }
}

function refuseOpenKey(file: string): void {
  if (process.platform === 'win32' || (statSync(file).mode & FORBIDDEN_MODE) === 0) return;
  throw refused('SVC_TLS_KEY', `${file} can be read or changed by other users; run: chmod 600 ${file}`);
}

function readText(setting: string, file: string): string {
  try {
    // Reading a pipe would block for ever.
    if (!statSync(file).isFile()) throw new Error('it is not a plain file');
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refused(
      setting,
      `${file} cannot be read (${(cause as NodeJS.ErrnoException).code ?? errorMessage(cause)}); name a file that this user can read`,
      cause,
    );
  }
}

function refused(param: string, what: string, cause?: unknown): SvcError {
  const subject = what.startsWith('is not set') ? `${param} ${what}` : `${param}: ${what}`;
  return fail('invalid_request', { param, message: `${subject}.` }, cause);
}
