/**
 * trust/signatures owns who signed the files of a model: bundles of Sigstore and of OpenSSF Model Signing, and
 * detached signatures, against the signers that the user lists. It needs no network and knows nothing of the store.
 * This file: parses the bytes of a signature, all of which are hostile.
 */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { Base64 } from '../identity/dsse.ts';
import { fault } from './fault.ts';

/** Chosen: the list of a repository with ten thousand files has 3 MiB. */
export const MOST_BUNDLE_BYTES = 4 * 1024 * 1024;
const MOST_CERTIFICATES = 10;
const MOST_LOG_ENTRIES = 8;
/** Size of an RSA signature with a 16,384-bit key. */
const MOST_SIGNATURE_BYTES = 2048;

const Bytes = (mostBytes: number) => Type.Intersect([Base64, Type.String({ maxLength: mostBytes * 2 })]);
const Certificate = Type.Object({ rawBytes: Bytes(64 * 1024) });
const Checkpoint = Type.Object({ envelope: Type.Optional(Type.String({ maxLength: 64 * 1024 })) });
const LogEntry = Type.Object({
  inclusionProof: Type.Optional(Type.Object({ checkpoint: Type.Optional(Checkpoint) })),
});
const Signature = Bytes(MOST_SIGNATURE_BYTES);

const Bundle = Type.Object({
  mediaType: Type.String({
    pattern: String.raw`^application/vnd\.dev\.sigstore\.bundle(?:\.v0\.3\+json|\+json;version=0\.[123])$`,
  }),
  verificationMaterial: Type.Object({
    publicKey: Type.Optional(Type.Object({ hint: Type.Optional(Type.Unknown()) })),
    certificate: Type.Optional(Certificate),
    x509CertificateChain: Type.Optional(
      Type.Object({ certificates: Type.Array(Certificate, { minItems: 1, maxItems: MOST_CERTIFICATES }) }),
    ),
    tlogEntries: Type.Optional(Type.Array(LogEntry, { maxItems: MOST_LOG_ENTRIES })),
    timestampVerificationData: Type.Optional(
      Type.Object({
        rfc3161Timestamps: Type.Optional(Type.Array(Type.Unknown(), { maxItems: MOST_LOG_ENTRIES })),
      }),
    ),
  }),
  dsseEnvelope: Type.Optional(
    Type.Object({
      payloadType: Type.String({ maxLength: 200 }),
      payload: Base64,
      signatures: Type.Array(Type.Object({ sig: Signature }), { minItems: 1, maxItems: 1 }),
    }),
  ),
  messageSignature: Type.Optional(
    Type.Object({
      messageDigest: Type.Optional(
        Type.Object({ algorithm: Type.Optional(Type.String()), digest: Type.Optional(Base64) }),
      ),
      signature: Signature,
    }),
  ),
});
type Bundle = Static<typeof Bundle>;

export type SignedContent =
  | {
      readonly kind: 'statement';
      readonly payloadType: string;
      readonly payload: Buffer;
      readonly sig: Buffer;
    }
  /** `hash`: kind of the signed digest; null: the key's usual one. `digest`: its stated value. */
  | {
      readonly kind: 'file';
      readonly hash: string | null;
      readonly digest: Buffer | null;
      readonly sig: Buffer;
    };

export type Proof =
  | { readonly kind: 'key'; readonly hint: string | null }
  | { readonly kind: 'chain'; readonly certificates: readonly Buffer[] }
  /** A short-lived certificate, with a log entry or a timestamp; `bundle` is the whole JSON. */
  | { readonly kind: 'keyless'; readonly certificate: Buffer; readonly bundle: unknown };

export interface SignatureBundle {
  readonly content: SignedContent;
  readonly proof: Proof;
}

const HASHES: ReadonlyMap<string, string> = new Map([
  ['SHA2_256', 'sha256'],
  ['SHA2_384', 'sha384'],
  ['SHA2_512', 'sha512'],
]);

/** Throws signature_invalid. */
export function readBundle(bytes: Buffer): SignatureBundle {
  if (bytes.length > MOST_BUNDLE_BYTES) throw fault(`it is larger than ${MOST_BUNDLE_BYTES} bytes`);
  const value = parseJson(bytes);
  if (value === undefined) return detached(bytes);
  if (!Check(Bundle, value)) throw fault('it is not a Sigstore bundle (version 0.1 to 0.3)');
  refuseOddLogs(value);
  return { content: readContent(value), proof: readProof(value) };
}

function parseJson(bytes: Buffer): unknown {
  try {
    // Some writers write empty members as null.
    return JSON.parse(bytes.toString('utf8'), (_, value: unknown) => (value === null ? undefined : value));
  } catch {
    return undefined;
  }
}

/** Accepts the bytes of `openssl dgst -sign`, or the Base64 of cosign. */
function detached(bytes: Buffer): SignatureBundle {
  const text = bytes.length > 2 * MOST_SIGNATURE_BYTES ? '' : bytes.toString('latin1').replaceAll(/\s/g, '');
  const sig = text !== '' && Check(Base64, text) ? Buffer.from(text, 'base64') : bytes;
  if (sig.length === 0 || sig.length > MOST_SIGNATURE_BYTES)
    throw fault('it is neither a Sigstore bundle nor a signature in Base64 or DER');
  return { content: { kind: 'file', hash: null, digest: null, sig }, proof: { kind: 'key', hint: null } };
}

function readContent({ dsseEnvelope, messageSignature }: Bundle): SignedContent {
  if (dsseEnvelope !== undefined && messageSignature === undefined) {
    const [first] = dsseEnvelope.signatures;
    return {
      kind: 'statement',
      payloadType: dsseEnvelope.payloadType,
      payload: Buffer.from(dsseEnvelope.payload, 'base64'),
      sig: Buffer.from(first?.sig ?? '', 'base64'),
    };
  }
  if (messageSignature === undefined || dsseEnvelope !== undefined)
    throw fault('it must hold one signature, of a file or of a statement');
  const { algorithm, digest } = messageSignature.messageDigest ?? {};
  const hash = algorithm === undefined ? null : HASHES.get(algorithm);
  if (hash === undefined) throw fault(`Hearth does not compute its digest ${JSON.stringify(algorithm)}`);
  return {
    kind: 'file',
    hash,
    digest: digest === undefined ? null : Buffer.from(digest, 'base64'),
    sig: Buffer.from(messageSignature.signature, 'base64'),
  };
}

function readProof(bundle: Bundle): Proof {
  const { publicKey, certificate, x509CertificateChain, tlogEntries, timestampVerificationData } =
    bundle.verificationMaterial;
  const chain = (x509CertificateChain?.certificates ?? (certificate === undefined ? [] : [certificate])).map(
    ({ rawBytes }) => Buffer.from(rawBytes, 'base64'),
  );
  const [leaf] = chain;
  if (leaf === undefined) {
    if (publicKey === undefined) throw fault('it names neither a key nor a certificate');
    const hint = typeof publicKey.hint === 'string' && publicKey.hint.length <= 200 ? publicKey.hint : null;
    return { kind: 'key', hint };
  }
  const isLogged =
    (tlogEntries ?? []).length > 0 || (timestampVerificationData?.rfc3161Timestamps ?? []).length > 0;
  return isLogged ? { kind: 'keyless', certificate: leaf, bundle } : { kind: 'chain', certificates: chain };
}

/** The verifier takes the names of signatures under a checkpoint as regular expressions. */
const LOG_NAME = /^[\w./:-]{1,200}$/;

function refuseOddLogs({ verificationMaterial: { tlogEntries = [] } }: Bundle): void {
  const names = tlogEntries
    .flatMap(({ inclusionProof }) => (inclusionProof?.checkpoint?.envelope ?? '').split('\n'))
    .filter((line) => line.startsWith('\u2014'))
    .map((line) => line.split(' ')[1] ?? '');
  if (!names.every((name) => LOG_NAME.test(name))) throw fault('a log in it has an unusual name');
}
