/** Signing for a verb that works on a home without a server; it counts as a boot of its own. */
import type { Clock } from '../../lib/base/clock.ts';
import { defaultKind, findBoundFolder, hashBackend } from '../identity/backend.ts';
import { loadIdentity } from '../identity/instance.ts';
import { hashServerSource } from '../identity/server-source.ts';
import { type EvidenceIssuer, newEvidenceIssuer } from './issuer.ts';
import { readSigningKey } from './rotation.ts';

export async function openOwnIssuer(options: {
  readonly home: string;
  readonly version: string;
  readonly clock: Pick<Clock, 'unixMs'>;
  readonly libraries: string;
}): Promise<EvidenceIssuer> {
  const { home, version, clock, libraries } = options;
  const identity = await loadIdentity({ home });
  return newEvidenceIssuer({
    identity,
    version,
    clock,
    serverSource: hashServerSource(),
    backend: () => hashBackend(findBoundFolder(defaultKind(), libraries)),
    signingKey: () => readSigningKey(home, identity.instanceId),
  });
}
