/** Proves that an upstream is the Hearth whose public key is pinned: it signs an unpredictable nonce. */
import { randomBytes } from 'node:crypto';
import { Ask } from '../../engine/upstream/look/ask.ts';
import { apiRoot } from '../../engine/upstream/look/models.ts';
import type { ExchangeDeps } from '../../engine/upstream/http/exchange.ts';
import type { Upstream } from '../../engine/upstream/ports.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { sha256Hex } from '../../../trust/identity/canonical.ts';
import { parsePublicKey } from '../../../trust/identity/dsse.ts';
import { findServiceFault } from '../../../trust/evidence/shown-keys.ts';
import { HEADERS } from '../../../wire/headers.ts';
import { routes } from '../../../wire/routes.ts';

export function proofs(deps: ExchangeDeps) {
  return {
    prove: (upstream: Upstream, signal: AbortSignal) => prove(deps, upstream, signal),
    bootHeader: HEADERS.bootId.toLowerCase(),
  };
}

/** Resolves with the proved boot id; rejects with upstream_unproved, or if it cannot be reached. */
export async function prove(deps: ExchangeDeps, upstream: Upstream, signal: AbortSignal): Promise<string> {
  const unproved = (reason: string): Error => fail('upstream_unproved', { upstream: upstream.name, reason });
  const key = upstream.publicKey === null ? null : parsePublicKey(upstream.publicKey);
  if (key === null) throw unproved('the pinned key is not a public key in PEM');
  const nonce = randomBytes(24).toString('base64url');
  const url = `${apiRoot(upstream.baseUrl)}${routes.identity.path}?nonce=${nonce}`;
  const body = await new Ask(deps, signal).json(upstream, url);
  if (typeof body !== 'object' || body === null) throw unproved('its identity is no object');
  const pinned = { keyid: sha256Hex(key.export({ type: 'spki', format: 'der' })) };
  const fault = findServiceFault({ ...body }, { nonce, pinned });
  if (fault !== null) throw unproved(fault);
  const { boot_id: bootId } = body as { readonly boot_id?: unknown };
  if (typeof bootId !== 'string') throw unproved('its identity names no boot');
  return bootId;
}
