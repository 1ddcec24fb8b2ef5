/** Trusted keys: this service's as first seen, or one that the user gives. */
import { signal } from '@preact/signals';
import type { Identity } from '../../src/wire/identity.ts';
import { readStoredJson, store } from '../parts/stored.ts';
import { askJson } from '../service/client.ts';
import { identityFault } from './check.ts';

export type Trust =
  | { readonly kind: 'none' }
  | { readonly kind: 'given'; readonly text: string; readonly name: string }
  | { readonly kind: 'seen'; readonly text: string; readonly pin: Pin; readonly isNew: boolean }
  /** The service signs with another key than the first one. */
  | { readonly kind: 'changed'; readonly pin: Pin; readonly fault: string };

export const trust = signal<Trust>({ kind: 'none' });

export const keyText = (): string | null => ('text' in trust.value ? trust.value.text : null);

/** The service must prove its identity; its key is remembered the first time. Does nothing if the user gave a key. */
export async function meetService(): Promise<void> {
  if (isGiven()) return;
  const nonce = crypto.randomUUID();
  const body = await askJson<Identity>(`/v1/identity?nonce=${nonce}`);
  const { instance_id: instanceId, signature } = body;
  if (signature === undefined) return;
  const known = pinOf(instanceId);
  const fault = await identityFault(body, nonce, known?.keyid ?? signature.keyid);
  if (isGiven()) return;
  const { keyid, public_key: pem, key_history: history } = signature;
  const shown = {
    keyid,
    publicKey: history === undefined ? pem : JSON.stringify(history),
    seenAt: Date.now(),
  };
  if (fault !== null) {
    trust.value = { kind: 'changed', pin: known ?? shown, fault };
    return;
  }
  const isNew = known?.keyid !== keyid;
  // From now on, the keys before it prove nothing.
  if (isNew) pin(instanceId, shown);
  const believed = isNew ? shown : known;
  trust.value = { kind: 'seen', text: believed.publicKey, pin: believed, isNew };
}

const isGiven = (): boolean => trust.value.kind === 'given';

/** Keys of instances as first seen by this browser. */
const NAME = 'hearth.pins';

interface Pin {
  readonly keyid: string;
  /** PEM, or the key history after a rotation. */
  readonly publicKey: string;
  /** Unix milliseconds. */
  readonly seenAt: number;
}

const readAll = (): Readonly<Record<string, Pin>> => (readStoredJson(NAME) ?? {}) as Record<string, Pin>;

function pinOf(instanceId: string): Pin | null {
  return readAll()[instanceId] ?? null;
}

function pin(instanceId: string, fresh: Pin): void {
  store(NAME, JSON.stringify({ ...readAll(), [instanceId]: fresh }));
}
