/** Who signed an installed model, by what was found at its installation and by the list of signers of today. */
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import type { ModelManifest } from '../../../store/files/manifest.ts';
import { readFinding } from '../../../store/passports/findings.ts';
import { SIGNATURES } from '../../../store/passports/signatures.ts';
import { openSigners } from '../../../trust/signatures/signers.ts';
import { judge, judged, signerWords } from '../../../trust/signatures/verdict.ts';
import type { SignatureShown } from '../../../wire/operation/passport.ts';

/** Null: nobody looked. Throws what keeps a file of the list from being used. */
export async function showSignatures(
  model: Pick<ModelManifest, 'id' | 'files'>,
  { home, signers }: { readonly home: string; readonly signers: readonly string[] },
): Promise<SignatureShown | null> {
  const kept = await readFinding(home, model, SIGNATURES);
  if (kept === null) return null;
  const files = judged(kept.files, await openSigners(signers));
  const { state, reason } = judge('it', files);
  return {
    state,
    says: reason,
    checked_at: kept.checkedAt,
    files: files.map((file) => ({
      name: file.name,
      state: file.state,
      signature: file.signature,
      signer: file.signer === null ? null : signerWords(file.signer),
      reason: file.reason,
    })),
  };
}

/** The same. A list that cannot be read trusts nobody here; the verbs say what is wrong with it. */
export async function showKnownSignatures(
  model: Pick<ModelManifest, 'id' | 'files'>,
  settings: { readonly home: string; readonly signers: readonly string[] },
): Promise<SignatureShown | null> {
  return showSignatures(model, settings).catch((error: unknown) => {
    if (!isSvcError(error)) throw error;
    return showSignatures(model, { ...settings, signers: [] });
  });
}
