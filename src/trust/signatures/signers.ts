import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { fail, isFailure, isSvcError } from '../../lib/errors/svc-error.ts';
import { readSettingFile, type SettingFile } from '../../lib/files/plain-file.ts';

/** The proved signer. The user's list alone decides whether it is trusted. */
export type SignerFacts =
  | { readonly kind: 'key'; readonly fingerprint: string | null }
  /** `authority`: fingerprint of the listed certificate that the chain leads to; null: none. */
  | { readonly kind: 'certificate'; readonly subject: string; readonly authority: string | null }
  | { readonly kind: 'identity'; readonly identity: string; readonly issuer: string };

export interface ListedSigners {
  readonly keys: readonly {
    readonly key: KeyObject;
    readonly fingerprint: string;
    readonly listed: string;
  }[];
  readonly authorities: readonly {
    readonly certificate: X509Certificate;
    readonly fingerprint: string;
    readonly listed: string;
  }[];
  readonly identities: readonly {
    readonly identity: string;
    readonly issuer: string;
    readonly listed: string;
  }[];
}

const SIGNER_FILE: SettingFile = { as: 'a signer of SVC_SIGNERS', mostBytes: 256 * 1024 };
const IDENTITY = /^(\S+)\s+(https?:\/\/\S+)$/;
const BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** Items are `IDENTITY ISSUER`, or the path of a file. Throws if a file cannot be used. */
export async function openSigners(list: readonly string[]): Promise<ListedSigners> {
  const opened: { [K in keyof ListedSigners]: ListedSigners[K][number][] } = {
    keys: [],
    authorities: [],
    identities: [],
  };
  for (const listed of list) {
    const [, identity, issuer] = IDENTITY.exec(listed) ?? [];
    if (identity !== undefined && issuer !== undefined) {
      opened.identities.push({ identity, issuer, listed });
      continue;
    }
    for (const each of await readFile(listed)) {
      if ('key' in each) opened.keys.push({ ...each, listed });
      else opened.authorities.push({ ...each, listed });
    }
  }
  return opened;
}

type Opened =
  | { readonly key: KeyObject; readonly fingerprint: string }
  | { readonly certificate: X509Certificate; readonly fingerprint: string };

async function readFile(path: string): Promise<Opened[]> {
  const refuse = (reason: string, cause?: unknown): Error =>
    fail('setting_file_unusable', { path, as: SIGNER_FILE.as, reason }, cause);
  const text = await readSettingFile(path, SIGNER_FILE).catch((error: unknown) => {
    throw isFailure(error, 'file_not_found') ? refuse('there is no such file', error) : error;
  });
  const blocks = [...text.matchAll(BLOCK)];
  if (blocks.length === 0) throw refuse('it holds no public key and no certificate in PEM');
  try {
    return blocks.map(([pem, kind = '']) => {
      // A public key could be derived from it, but a list of signers must not contain private ones.
      if (kind.includes('PRIVATE')) throw refuse('it holds a private key; name the file of the public one');
      if (kind === 'CERTIFICATE') {
        const certificate = new X509Certificate(pem);
        return { certificate, fingerprint: sha256(certificate.raw) };
      }
      const key = createPublicKey(pem);
      return { key, fingerprint: fingerprint(key) };
    });
  } catch (error) {
    throw isSvcError(error) ? error : refuse('its PEM cannot be read', error);
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const fingerprint = (key: KeyObject): string => sha256(key.export({ type: 'spki', format: 'der' }));

export function listedAs(signers: ListedSigners, signer: SignerFacts): string | null {
  switch (signer.kind) {
    case 'key':
      return signers.keys.find(({ fingerprint }) => fingerprint === signer.fingerprint)?.listed ?? null;
    case 'certificate':
      return signers.authorities.find(({ fingerprint }) => fingerprint === signer.authority)?.listed ?? null;
    case 'identity':
      return signers.identities.find((each) => isMeant(each, signer))?.listed ?? null;
  }
}

/** A final star matches the rest, such as the tag of a release. */
function isMeant(
  listed: { readonly identity: string; readonly issuer: string },
  signer: { readonly identity: string; readonly issuer: string },
): boolean {
  if (listed.issuer !== signer.issuer) return false;
  return listed.identity.endsWith('*')
    ? signer.identity.startsWith(listed.identity.slice(0, -1))
    : signer.identity === listed.identity;
}
