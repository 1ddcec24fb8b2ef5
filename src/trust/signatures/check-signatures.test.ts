/** Signatures that model_signing, cosign, npm and openssl made, and the same ones altered. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBundle } from './bundle.ts';
import { checkSignatures, type FileToCheck, type Finding, type FoundSignature } from './check-signatures.ts';
import { keylessSigner } from './keyless.ts';
import { openSigners } from './signers.ts';
import { PUBLIC_ROOT } from './sigstore-root.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/signatures/${name}`, import.meta.url));
const NOW_MS = Date.parse('2026-12-24T00:00:00Z');
/** The pair of addresses that a bundle of cosign was made with. */
const COSIGN =
  'https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/*';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-signatures-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileAt(source: string, name: string): Promise<FileToCheck> {
  const bytes = await readFile(source);
  return { name, path: source, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const weights = () => fileAt(fixture('oms/weights.gguf'), 'weights.gguf');

interface Asked {
  readonly signers?: readonly string[];
  readonly files?: readonly FileToCheck[];
  readonly nowMs?: number;
  readonly root?: unknown;
}

async function check(
  signature: Partial<FoundSignature> & { readonly bytes: Buffer },
  { signers = [], files, nowMs = NOW_MS, root = null }: Asked = {},
): Promise<Finding[]> {
  return checkSignatures(files ?? [await weights()], [{ name: 'model.sig', of: null, ...signature }], {
    signers: await openSigners(signers),
    root,
    nowMs,
  });
}

const ofModel = async (name: string, asked: Asked = {}): Promise<Finding | undefined> =>
  (await check({ bytes: await readFile(fixture(`oms/${name}`)) }, asked))[0];

/** What the tests change; a bundle has only some of it. */
interface TestBundle {
  messageSignature: { signature: string; messageDigest: { digest: string } };
  dsseEnvelope: { payload: string; payloadType: string; signatures: [{ sig: string }] };
  verificationMaterial: {
    certificate: { rawBytes: string };
    x509CertificateChain: { certificates: unknown[] };
    tlogEntries: [LogEntry, ...LogEntry[]];
  };
}
interface LogEntry {
  canonicalizedBody: string;
  integratedTime: string;
  logIndex: string;
  inclusionProof: { hashes: [string]; checkpoint: { envelope: string } };
}

/** The JSON of a bundle with one change. */
async function altered(name: string, change: (bundle: TestBundle) => void): Promise<Buffer> {
  const bundle = JSON.parse(await readFile(fixture(name), 'utf8')) as TestBundle;
  change(bundle);
  return Buffer.from(JSON.stringify(bundle));
}

const flipped = (base64: string): string => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  return bytes.toString('base64');
};

describe('a signature of model_signing', () => {
  it.each([
    ['p256.sig', 'p256.pub'],
    ['p384.sig', 'p384.pub'],
    ['single.sig', 'p256.pub'],
    ['shards.sig', 'p256.pub'],
    ['blake2.sig', 'p256.pub'],
    ['certificate.sig', 'root.crt'],
    ['certificate.sig', 'inter.crt'],
  ])('%s is trusted with %s in the list', async (name, signer) => {
    const finding = await ofModel(name, { signers: [fixture(`oms/${signer}`)] });
    expect(finding).toMatchObject({ state: 'trusted', signature: 'model.sig', reason: null });
  });

  it.each(['p256.sig', 'p384.sig', 'shards.sig', 'certificate.sig'])(
    '%s is of nobody in an empty list',
    async (name) => {
      expect(await ofModel(name)).toMatchObject({ state: 'unlisted' });
      expect(await ofModel(name, { signers: ['a@example.com https://accounts.google.com'] })).toMatchObject({
        state: 'unlisted',
      });
    },
  );

  it('names the certificate of a stranger, and no key that it could not check', async () => {
    expect((await ofModel('certificate.sig'))?.signer).toEqual({
      kind: 'certificate',
      subject: 'O=Example, CN=Model team',
      authority: null,
    });
    expect((await ofModel('p256.sig', { signers: [fixture('oms/p384.pub')] }))?.signer).toEqual({
      kind: 'key',
      fingerprint: null,
    });
  });

  it('fails with a certificate that expired, is not yet valid, or is for web servers', async () => {
    const signers = [fixture('oms/root.crt')];
    const reason = async (name: string, nowMs = NOW_MS) => {
      const finding = await ofModel(name, { signers, nowMs });
      return `${finding?.state}: ${finding?.reason}`;
    };
    expect(await reason('certificate.sig', Date.parse('2028-01-01'))).toBe(
      'failed: its certificate expired on 2027-11-27, and nothing shows that it is older',
    );
    expect(await reason('certificate.sig', Date.parse('2020-01-01'))).toBe(
      'failed: its certificate is valid from 2026-11-27 on',
    );
    expect(await reason('tls.sig')).toBe('failed: its certificate is not for signing code');
  });

  it.each(['p256.sig', 'shards.sig', 'blake2.sig', 'certificate.sig'])(
    '%s fails beside a file with other bytes',
    async (name) => {
      const changed = path.join(folder, 'weights.gguf');
      const bytes = await readFile(fixture('oms/weights.gguf'));
      for (const at of [0, 15, bytes.length - 1]) {
        const other = Buffer.from(bytes);
        other[at] = (other[at] ?? 0) ^ 1;
        await writeFile(changed, other);
        const files = [await fileAt(changed, 'weights.gguf')];
        const signers = [fixture('oms/p256.pub'), fixture('oms/root.crt')];
        expect(await ofModel(name, { signers, files })).toMatchObject({
          state: 'failed',
          reason: 'the file has other bytes than those that were signed',
        });
      }
      for (const other of [bytes.subarray(0, -1), Buffer.concat([bytes, bytes]), Buffer.alloc(0)]) {
        await writeFile(changed, other);
        const finding = await ofModel(name, {
          signers: [fixture('oms/p256.pub'), fixture('oms/root.crt')],
          files: [await fileAt(changed, 'weights.gguf')],
        });
        expect(finding?.state).toBe('failed');
      }
    },
  );

  it('fails with a list, a signature, a certificate or a type that was altered', async () => {
    const signers = [fixture('oms/p256.pub'), fixture('oms/root.crt')];
    const stateOf = async (name: string, change: (bundle: TestBundle) => void) => {
      const [finding] = await check({ bytes: await altered(`oms/${name}`, change) }, { signers });
      return [finding?.state, finding?.reason];
    };
    const noKey = 'the key that it names did not make it';
    expect(
      await stateOf('p256.sig', ({ dsseEnvelope: { signatures } }) => {
        signatures[0].sig = flipped(signatures[0].sig);
      }),
    ).toEqual(['failed', noKey]);
    // The white space of the list is signed as well.
    expect(
      await stateOf('p256.sig', ({ dsseEnvelope }) => {
        const text = Buffer.from(dsseEnvelope.payload, 'base64').toString('utf8');
        dsseEnvelope.payload = Buffer.from(JSON.stringify(JSON.parse(text))).toString('base64');
      }),
    ).toEqual(['failed', noKey]);
    expect(
      await stateOf('certificate.sig', ({ dsseEnvelope: { signatures } }) => {
        signatures[0].sig = flipped(signatures[0].sig);
      }),
    ).toEqual(['failed', 'the key of its certificate did not make it']);
    expect(
      await stateOf('certificate.sig', ({ verificationMaterial: { x509CertificateChain: chain } }) => {
        chain.certificates.pop();
      }),
    ).toEqual(['unlisted', null]);
    expect(
      (
        await stateOf('p256.sig', ({ dsseEnvelope }) => {
          dsseEnvelope.payloadType = 'text/plain';
        })
      )[0],
    ).toBe('failed');
    expect(
      (
        await stateOf('p256.sig', ({ dsseEnvelope }) => {
          const text = Buffer.from(dsseEnvelope.payload, 'base64').toString('utf8');
          const other = text.replace(
            'https://model_signing/signature/v1.0',
            'https://in-toto.io/attestation/vulns',
          );
          dsseEnvelope.payload = Buffer.from(other).toString('base64');
        })
      )[1],
    ).toMatch(/which vouches for no model$/);
  });

  it('says nothing about a file that its list lacks, and names one that was renamed', async () => {
    const signers = [fixture('oms/p256.pub')];
    const other = await fileAt(fixture('oms/root.crt'), 'other.gguf');
    expect(await ofModel('p256.sig', { signers, files: [other] })).toMatchObject({ state: 'unsigned' });
    const renamed = { ...(await weights()), name: 'better.gguf' };
    expect(await ofModel('p256.sig', { signers, files: [renamed] })).toMatchObject({
      state: 'failed',
      reason: 'these bytes are signed under the name "weights.gguf"',
    });
  });

  it('is about the files below its own folder', async () => {
    const bytes = await readFile(fixture('oms/p256.sig'));
    const signers = [fixture('oms/p256.pub')];
    const at = async (name: string, file: string) =>
      (await check({ name, bytes }, { signers, files: [{ ...(await weights()), name: file }] }))[0]?.state;
    expect(await at('q8/model.sig', 'q8/weights.gguf')).toBe('trusted');
    expect(await at('q8/model.sig', 'q4/weights.gguf')).toBe('unsigned');
    expect(await at('model.sig', 'q8/weights.gguf')).toBe('failed');
  });
});

describe('a bundle of cosign', () => {
  const ofBlob = async (
    change: (bundle: TestBundle) => void = () => {},
    { signers = [`${COSIGN} https://token.actions.githubusercontent.com`], ...asked }: Asked = {},
  ) => {
    const blob = await fileAt(fixture('cosign/cosign-v3-blob.txt'), 'blob');
    const bytes = await altered('cosign/cosign-v3-blob.sigstore.json', change);
    const found = { name: 'blob.sigstore.json', of: 'blob', bytes };
    return (await check(found, { files: [blob], signers, ...asked }))[0];
  };

  it('names who made it, and is trusted only where the list has both the identity and its issuer', async () => {
    const stranger = await ofBlob(() => {}, { signers: [] });
    expect(stranger).toMatchObject({ state: 'unlisted', signer: { kind: 'identity' } });
    if (stranger?.signer?.kind !== 'identity') throw new Error('nobody signed it');
    const { identity, issuer } = stranger.signer;
    const state = async (listed: string) => (await ofBlob(() => {}, { signers: [listed] }))?.state;
    expect(await state(`${identity} ${issuer}`)).toBe('trusted');
    expect(await state(`${identity.slice(0, -3)}* ${issuer}`)).toBe('trusted');
    expect(await state(`${identity} https://accounts.google.com`)).toBe('unlisted');
    expect(await state(`${identity}x ${issuer}`)).toBe('unlisted');
    expect(await state(`${identity.slice(0, -3)} ${issuer}`)).toBe('unlisted');
    expect(await state(`x${identity} ${issuer}`)).toBe('unlisted');
  });

  it('fails beside another file, and with any part altered', async () => {
    expect((await ofBlob())?.state).not.toBe('failed');
    const files = [{ ...(await weights()), name: 'blob' }];
    expect((await ofBlob(() => {}, { files }))?.state).toBe('failed');
    const changes: ((bundle: TestBundle) => void)[] = [
      ({ messageSignature }) => (messageSignature.signature = flipped(messageSignature.signature)),
      ({ messageSignature: { messageDigest } }) => (messageDigest.digest = flipped(messageDigest.digest)),
      ({ verificationMaterial: { certificate } }) => (certificate.rawBytes = flipped(certificate.rawBytes)),
      ({ verificationMaterial: { tlogEntries } }) =>
        (tlogEntries[0].canonicalizedBody = flipped(tlogEntries[0].canonicalizedBody)),
      ({ verificationMaterial: { tlogEntries } }) =>
        (tlogEntries[0].inclusionProof.hashes[0] = flipped(tlogEntries[0].inclusionProof.hashes[0])),
      ({ verificationMaterial: { tlogEntries } }) => (tlogEntries[0].integratedTime = '1564787003'),
      ({ verificationMaterial: { tlogEntries } }) => (tlogEntries[0].logIndex = '1'),
      (bundle) => {
        bundle.verificationMaterial.tlogEntries.splice(0);
      },
    ];
    for (const change of changes) expect((await ofBlob(change))?.state, String(change)).toBe('failed');
  });

  it('fails where the root is of another instance, or was not valid by then', async () => {
    const none = { ...PUBLIC_ROOT, certificateAuthorities: [] };
    expect((await ofBlob(() => {}, { root: none }))?.state).toBe('failed');
    const past = {
      ...PUBLIC_ROOT,
      certificateAuthorities: PUBLIC_ROOT.certificateAuthorities.map((each) => ({
        ...each,
        validFor: { start: '2021-01-01T00:00:00Z', end: '2022-01-01T00:00:00Z' },
      })),
    };
    expect((await ofBlob(() => {}, { root: past }))?.state).toBe('failed');
    const timeless = {
      ...PUBLIC_ROOT,
      tlogs: PUBLIC_ROOT.tlogs.map((log) => ({ ...log, publicKey: { ...log.publicKey, validFor: {} } })),
    };
    expect((await ofBlob(() => {}, { root: timeless }))?.reason).toContain('since when its logs count');
  });

  it('is trusted with a key that the list has', async () => {
    const file = await fileAt(fixture('cosign/managed-key.txt'), 'blob');
    const state = async (signer: string, change: (bundle: TestBundle) => void = () => {}) => {
      const bytes = await altered('cosign/managed-key.sigstore.json', change);
      const found = { name: 'blob.sigstore.json', of: 'blob', bytes };
      return (await check(found, { files: [file], signers: [fixture(signer)] }))[0]?.state;
    };
    expect(await state('cosign/managed-key.pub')).toBe('trusted');
    expect(await state('oms/p256.pub')).toBe('unlisted');
    expect(
      await state('cosign/managed-key.pub', ({ messageSignature }) => {
        messageSignature.signature = flipped(messageSignature.signature);
      }),
    ).not.toBe('trusted');
  });

  it('with the log entry of another signature fails (CVE-2022-36056)', async () => {
    const bytes = await readFile(fixture('sigstore/cve-2022-36056.txt.sigstore'));
    expect((await check({ of: 'weights.gguf', bytes }))[0]?.state).toBe('failed');
  });

  it('of provenance names the workflow that made it', async () => {
    const { content, proof } = readBundle(await readFile(fixture('sigstore/provenance.sigstore.json')));
    if (proof.kind !== 'keyless') throw new Error('the bundle has no certificate');
    expect(await keylessSigner(proof, content, null, null)).toEqual({
      kind: 'identity',
      identity: 'https://github.com/sigstore/sigstore-js/.github/workflows/release.yml@refs/heads/main',
      issuer: 'https://token.actions.githubusercontent.com',
    });
  });
});

describe('a plain signature', () => {
  const state = async (bytes: Buffer, signers: readonly string[], files?: readonly FileToCheck[]) =>
    (
      await check(
        { name: 'weights.gguf.sig', of: 'weights.gguf', bytes },
        { signers, ...(files ? { files } : {}) },
      )
    )[0]?.state;

  it('of openssl is trusted in DER and in Base64, with the key in the list', async () => {
    const der = await readFile(fixture('oms/openssl.der'));
    const text = Buffer.from(`${der.toString('base64')}\n`);
    const signers = [fixture('oms/p384.pub'), fixture('oms/p256.pub')];
    expect([await state(der, signers), await state(text, signers)]).toEqual(['trusted', 'trusted']);
    expect(await state(der, [fixture('oms/p384.pub')])).toBe('unlisted');
    const other = [await fileAt(fixture('oms/config.json'), 'weights.gguf')];
    expect(await state(der, signers, other)).toBe('unlisted');
  });

  it('of RSA is trusted as well', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const listed = path.join(folder, 'rsa.pub');
    await writeFile(listed, publicKey.export({ type: 'spki', format: 'pem' }));
    const sig = sign('sha256', await readFile(fixture('oms/weights.gguf')), privateKey);
    expect(await state(sig, [listed])).toBe('trusted');
  });
});

describe('hostile bytes', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['more than a bundle may have', Buffer.alloc(4 * 1024 * 1024 + 1, 0x20)],
    ['a web page', Buffer.from('<!doctype html><title>404</title>'.repeat(200))],
    ['deep JSON', Buffer.from('['.repeat(1_000_000))],
    ['another document', Buffer.from('{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}')],
  ])('fail: %s', async (_, bytes) => {
    const [finding] = await check({ bytes }, { signers: [fixture('oms/p256.pub')] });
    expect(finding?.state).toBe('failed');
  });

  it('fail as a certificate of nested lists, and as the name of a log that is an expensive pattern', async () => {
    const nested = (bundle: TestBundle) => {
      const depth = 8_000;
      const bytes = Buffer.alloc(4 * depth);
      for (let at = 0; at < depth; at += 1)
        bytes.set([0x30, 0x82, (4 * (depth - at - 1)) >> 8, (4 * (depth - at - 1)) & 255], 4 * at);
      bundle.verificationMaterial.certificate.rawBytes = bytes.toString('base64');
    };
    const named = (bundle: TestBundle) => {
      const { checkpoint } = bundle.verificationMaterial.tlogEntries[0].inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace(/^\u2014 \S+/m, '\u2014 ((([a-z])+.)+)+[A-Z]');
    };
    for (const [change, reason] of [
      [nested, /^Sigstore's verifier refuses it|cannot be read$/],
      [named, /^a log in it has an unusual name$/],
    ] as const) {
      const bytes = await altered('cosign/cosign-v3-blob.sigstore.json', change);
      const [finding] = await check({ of: 'weights.gguf', bytes });
      expect([finding?.state, finding?.reason]).toEqual(['failed', expect.stringMatching(reason)]);
    }
  });

  it('of a signature next to one that holds do not hide it', async () => {
    const signatures = [
      { name: 'weights.gguf.sig', of: 'weights.gguf', bytes: Buffer.from('{}') },
      { name: 'model.sig', of: null, bytes: await readFile(fixture('oms/p256.sig')) },
    ];
    const context = { root: null, nowMs: NOW_MS };
    const listed = { signers: await openSigners([fixture('oms/p256.pub')]), ...context };
    expect((await checkSignatures([await weights()], signatures, listed))[0]).toMatchObject({
      state: 'trusted',
      signature: 'model.sig',
    });
    const unlisted = { signers: await openSigners([]), ...context };
    expect((await checkSignatures([await weights()], signatures, unlisted))[0]).toMatchObject({
      state: 'failed',
      signature: 'weights.gguf.sig',
    });
  });
});

describe('a list of signers', () => {
  it('refuses a private key, a file of something else, and one that is missing', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const secret = path.join(folder, 'secret.pem');
    await writeFile(secret, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await expect(openSigners([secret])).rejects.toThrow(
      'it holds a private key; name the file of the public one',
    );
    await expect(openSigners([fixture('oms/config.json')])).rejects.toThrow(
      'cannot be used as a signer of SVC_SIGNERS: it holds no public key and no certificate in PEM',
    );
    await expect(openSigners([path.join(folder, 'none.pem')])).rejects.toThrow(
      'cannot be used as a signer of SVC_SIGNERS: there is no such file',
    );
  });
});
