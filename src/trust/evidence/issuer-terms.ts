/** What a key may sign: records of the instance that it belongs to, dated while it was that instance's key. */
import type { Keyring, TrustedKey } from './keyring.ts';
import type { Predicate } from './statement.ts';

export type Term = { readonly outcome: 'failed' | 'incomparable'; readonly detail: string };

/** Empty when nothing speaks against the key. */
export function brokenTerms(
  { issuer }: Pick<Predicate, 'issuer'>,
  key: TrustedKey,
  keyring: Pick<Keyring, 'instanceId' | 'isPinned'>,
): Term[] {
  const terms: Term[] = [];
  if (issuer.keyid !== key.keyid)
    terms.push({ outcome: 'failed', detail: 'the statement names another key' });
  if (keyring.isPinned === true) return terms;
  if (keyring.instanceId === null) {
    // After a rotation, only the history leads from the id to the key; without it, the id is a mere claim.
    if (key.instanceId !== issuer.instance_id) {
      const detail = `the key by itself belongs to ${key.instanceId}, and the record speaks for ${issuer.instance_id}; give the output of evidence pubkey --history`;
      terms.push({ outcome: 'incomparable', detail });
    }
    return terms;
  }
  if (keyring.instanceId !== issuer.instance_id) {
    const detail = `the key belongs to ${keyring.instanceId}, not to ${issuer.instance_id}`;
    terms.push({ outcome: 'failed', detail });
  }
  const { from, until } = key.period;
  // All are whole seconds of UTC in one form, so text compares as time.
  const late = until !== null && issuer.issued_at > until;
  const early = from !== null && issuer.issued_at < from;
  if (late || early) {
    const why = late ? `after the key was replaced at ${until}` : `before the key existed (${from})`;
    terms.push({ outcome: 'failed', detail: `it is dated ${issuer.issued_at}, ${why}` });
  }
  return terms;
}
