/**
 * server/api/passport owns what is known of a model in one place: where it comes from, who signed it, what was measured. It
 * knows nothing of how signatures are verified or models are measured.
 * This file: whether a model may be installed, by who signed it and by the settings.
 */
import { fail } from '../../../lib/errors/svc-error.ts';
import { hashFile, readSettingFile } from '../../../lib/files/plain-file.ts';
import type { ModelToCheck, SignatureGate, SignedFile } from '../../../store/install/signature-gate.ts';
import { keepFinding } from '../../../store/passports/findings.ts';
import { SIGNATURES } from '../../../store/passports/signatures.ts';
import { type FileFinding, type Verdict, judge } from '../../../trust/signatures/verdict.ts';

export interface SignatureSettings {
  readonly home: string;
  readonly signatures: 'off' | 'warn' | 'enforce';
  /** Files of keys and certificates, and identities with their issuers. */
  readonly signers: readonly string[];
  /** The file of a trusted root of Sigstore; null: the built-in one. */
  readonly sigstoreRoot: string | null;
}

/** Undefined: nobody asks. */
export function signatureGate(settings: SignatureSettings): SignatureGate | undefined {
  const { home, signatures: mode, signers } = settings;
  if (mode === 'off') return undefined;
  return {
    expect: (id, found) => {
      if (mode === 'enforce' && found.length === 0) throw refusal(id, judge('it', []));
    },
    check: async (model) => {
      const files = await findSigners(model, settings);
      if (mode === 'enforce' && judge('it', files).state !== 'trusted')
        throw refusal(model.id, judge('it', files));
      const { state, reason } = judge(model.id, files);
      // Most models have no signature, which is news only to people who expect one.
      if (state !== 'unsigned' || signers.length > 0 || files.some((file) => file.state !== 'unsigned'))
        model.onEvent?.({ status: 'signature', state, says: `${capital(reason)}.` });
      const record = { checkedAt: new Date().toISOString(), files };
      return (installed) => keepFinding(home, installed, SIGNATURES, record);
    },
  };
}

const refusal = (model: string, { reason, remedy }: Verdict): Error =>
  fail('signature_refused', { model, reason, remedy });

/** An id is never capitalised. */
const capital = (sentence: string): string => sentence.replace(/^the /, 'The ');

async function findSigners(
  { files, signatures }: ModelToCheck,
  { signers, sigstoreRoot }: SignatureSettings,
): Promise<FileFinding[]> {
  if (signatures.length === 0) return files.map(({ name }) => ({ ...UNSIGNED, name }));
  const { checkSignatures } = await import('../../../trust/signatures/check-signatures.ts');
  const { openSigners } = await import('../../../trust/signatures/signers.ts');
  const context = {
    signers: await openSigners(signers),
    root: sigstoreRoot === null ? null : await readRoot(sigstoreRoot),
    nowMs: Date.now(),
  };
  const known: SignedFile[] = [];
  for (const file of files) known.push(await withDigest(file));
  const findings = await checkSignatures(known, signatures, context);
  return files.map(({ name }, at) => ({ ...(findings[at] ?? UNSIGNED), name }));
}

const UNSIGNED = { state: 'unsigned', signature: null, signer: null, reason: null } as const;

/** A signature is about bytes, not about what another program says of them. */
async function withDigest(file: SignedFile): Promise<SignedFile> {
  if (file.isComputed) return file;
  const actual = await hashFile(file.path);
  if (actual === file.sha256) return file;
  const { path, sha256: expected } = file;
  throw fail('digest_mismatch', { path, param: path, expected, actual });
}

const ROOT_FILE = { as: 'a trusted root of Sigstore', mostBytes: 1024 * 1024 };

async function readRoot(path: string): Promise<unknown> {
  const text = await readSettingFile(path, ROOT_FILE);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail('setting_file_unusable', { path, as: ROOT_FILE.as, reason: 'it is not JSON' }, error);
  }
}
