/** Public facts of a home's instance: its id and its public key. The private key stays in this folder. */
import { loadIdentity } from './instance.ts';

export { readInstanceId } from './instance.ts';

export interface PublicIdentity {
  readonly instanceId: string;
  /** Lower-case hex SHA-256 of the public key. */
  readonly keyid: string;
  readonly publicKeyPem: string;
}

/** Makes the instance on first use. */
export async function readPublicIdentity(home: string): Promise<PublicIdentity> {
  const { instanceId, keys } = await loadIdentity({ home });
  return { instanceId, keyid: keys.keyid, publicKeyPem: keys.publicKeyPem };
}
