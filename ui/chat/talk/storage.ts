/**
 * Stores conversations in this browser. Every write merges with the stored state in one transaction, so that tabs
 * never overwrite each other; a channel reports changes to the other tabs.
 */
import { createStore, del, entries, get, update } from 'idb-keyval';
import { whyNot } from '../../parts/stored.ts';
import type { Conversation } from './conversation.ts';
import { noteKeptConversation, noteRefused, noteRoom } from './keeping.ts';
import { merged } from './merge.ts';

const store = createStore('hearth', 'conversations');
const channel = new BroadcastChannel('hearth.conversations');
const tellOtherTabs = (id: string): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin
  channel.postMessage({ id });
};

export async function loadConversations(): Promise<Conversation[] | null> {
  try {
    const all = await entries<string, Conversation>(store);
    return all.map(([, conversation]) => conversation).toSorted((a, b) => b.changedAt - a.changedAt);
  } catch {
    noteRefused();
    return null;
  }
}

const writes = new Map<string, Promise<void>>();

/** Resolves once all writes of a conversation by this tab have ended. */
export const written = (id: string): Promise<void> => writes.get(id) ?? Promise.resolve();

export function saveConversation(conversation: Conversation): Promise<void> {
  const write = put(conversation);
  writes.set(conversation.id, write);
  return write;
}

async function put(conversation: Conversation): Promise<void> {
  const { id } = conversation;
  try {
    await update<Conversation>(
      id,
      (stored) => (stored === undefined ? conversation : merged(stored, conversation)),
      store,
    );
    tellOtherTabs(id);
    noteKeptConversation(id, null);
    await noteRoom();
  } catch (error) {
    noteKeptConversation(id, whyNot(error));
  }
}

/** Applies `how` to the stored state, whatever this tab has in memory. Null: nothing was changed. */
export async function changeStored(
  id: string,
  how: (stored: Conversation) => Conversation,
): Promise<Conversation | null> {
  let changed: Conversation | null = null;
  try {
    if ((await get(id, store)) === undefined) return null;
    await update<Conversation>(
      id,
      (stored) => {
        if (stored === undefined) throw new Error('removed meanwhile');
        return (changed = how(stored));
      },
      store,
    );
    tellOtherTabs(id);
    return changed;
  } catch {
    return null;
  }
}

export async function deleteConversation(id: string): Promise<void> {
  await del(id, store).catch(() => undefined);
  tellOtherTabs(id);
  noteKeptConversation(id, null);
  await noteRoom();
}

/** Waits for `ready`; null: the conversation was removed. */
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

/** A tab holds this lock while it writes an answer, because other tabs cannot detect otherwise if it still exists. */
const lockOf = (id: string): string => `hearth.answer.${id}`;

export function holdAnswer(id: string, end: Promise<unknown>): void {
  void navigator.locks?.request(lockOf(id), () => end.catch(() => undefined));
}

export async function answerLeft(id: string): Promise<void> {
  await navigator.locks?.request(lockOf(id), { mode: 'shared' }, () => undefined);
}
