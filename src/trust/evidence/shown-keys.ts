/** The keys that a service shows with its identity. A rotation is no reason to distrust it: its keys hand over. Pure. */
import { errorReason, isSvcError } from '../../lib/errors/svc-error.ts';
import { findIdentityFault, type IdentityExpectation } from '../identity/sign-identity.ts';
import { type Keyring, keyringFromJson } from './keyring.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * As `findIdentityFault`, where the pinned key may also have handed over to the one that signed. Who holds the pinned key
 * can do that, and could sign with it as well.
 */
export function findServiceFault(body: Body, expected: IdentityExpectation): string | null {
  const history = shownHistory(body);
  if (history === undefined) return findIdentityFault(body, expected);
  let keyring: Keyring;
  try {
    keyring = keyringFromJson(history);
  } catch (error) {
    // Others are not about the history: a browser asks for its digests so.
    if (!isSvcError(error)) throw error;
    return `the history of its keys does not hold: ${errorReason(error)}`;
  }
  const { pinned } = expected;
  const { keys, instanceId } = keyring;
  const isPinned =
    'keyid' in pinned ? keys.some(({ keyid }) => keyid === pinned.keyid) : instanceId === pinned.instanceId;
  const present = keys.at(-1);
  if (!isPinned || present === undefined || instanceId !== body['instance_id'])
    return 'it is signed with another key';
  return findIdentityFault(body, { ...expected, pinned: { keyid: present.keyid } });
}

function shownHistory({ signature }: Body): unknown {
  return typeof signature === 'object' && signature !== null
    ? Reflect.get(signature, 'key_history')
    : undefined;
}
