/**
 * Conversations in this browser. Every write is a merge with what is stored, in one transaction, so that tabs never
 * overwrite each other; a channel reports to the other tabs what changed.
 */
import { signal } from '@preact/signals';
import { createStore, del, entries, get, update } from 'idb-keyval';
import type { Conversation } from './conversation.ts';
import { merged } from './merge.ts';

const store = createStore('hearth', 'conversations');
const channel = new BroadcastChannel('hearth.conversations');
const tellOtherTabs = (id: string): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin
  channel.postMessage({ id });
};

/** Why what is said now is not kept, or soon may not be; null: it is. */
export const storageFault = signal<string | null>(null);

const FULL =
  "This browser's storage for the page is full: what you write now is lost when the tab is closed. Export your conversations, or remove some.";
const REFUSED =
  'This browser does not let the page store anything: conversations are lost when the tab is closed. A private window does this; use an ordinary one, or export what you want to keep.';
/** Of what the browser allows the page; from there on the user is told. */
const NEARLY_FULL = 0.95;

/** The latest first. */
export async function loadConversations(): Promise<Conversation[]> {
  try {
    const all = await entries<string, Conversation>(store);
    return all.map(([, conversation]) => conversation).toSorted((a, b) => b.changedAt - a.changedAt);
  } catch {
    storageFault.value = REFUSED;
    return [];
  }
}

export async function saveConversation(conversation: Conversation): Promise<void> {
  const { id } = conversation;
  try {
    await update<Conversation>(
      id,
      (stored) => (stored === undefined ? conversation : merged(stored, conversation)),
      store,
    );
    tellOtherTabs(id);
    storageFault.value = await roomFault();
  } catch (error) {
    const isFull = error instanceof DOMException && error.name === 'QuotaExceededError';
    storageFault.value = isFull ? FULL : REFUSED;
  }
}

export async function deleteConversation(id: string): Promise<void> {
  await del(id, store).catch(() => undefined);
  tellOtherTabs(id);
  storageFault.value = null;
}

/** Calls back, once `ready` has settled, when another tab has changed a conversation; with null where it was removed. */
export function watchOtherTabs(
  ready: Promise<unknown>,
  onChange: (id: string, stored: Conversation | null) => void,
): void {
  channel.addEventListener('message', ({ data }: MessageEvent<{ readonly id: string }>) => {
    void ready
      .then(() => get<Conversation>(data.id, store))
      .then(
        (stored) => onChange(data.id, stored ?? null),
        () => undefined,
      );
  });
}

/** Browsers tell only roughly how much they allow; some do not tell. */
async function roomFault(): Promise<string | null> {
  const { usage = 0, quota = 0 } = (await navigator.storage?.estimate()) ?? {};
  return quota > 0 && usage > NEARLY_FULL * quota
    ? "This browser's storage for the page is nearly full. Export your conversations, then remove some, before anything is lost."
    : null;
}

/** Held by the tab that writes an answer, as long as it does: nobody else can tell whether that tab is still there. */
const lockOf = (id: string): string => `hearth.answer.${id}`;

/** Says to other tabs that this one writes an answer, until `end` settles. */
export function holdAnswer(id: string, end: Promise<unknown>): void {
  void navigator.locks?.request(lockOf(id), () => end.catch(() => undefined));
}

/** Resolves once no tab writes an answer. */
export async function answerLeft(id: string): Promise<void> {
  await navigator.locks?.request(lockOf(id), { mode: 'shared' }, () => undefined);
}
