/**
 * ui/storage owns what the page keeps, all of it in this browser: conversations, pinned keys, choices of the user. It does
 * not know what any of it means. This file: conversations, in the browser's database.
 */
import { createStore, del, entries, set } from 'idb-keyval';
import type { Conversation } from '../chat/talk/conversation.ts';

const store = createStore('hearth', 'conversations');

/** The latest first. Empty where the browser keeps nothing, as in some private windows. */
export async function loadConversations(): Promise<Conversation[]> {
  const all = await entries<string, Conversation>(store).catch(() => []);
  return all.map(([, conversation]) => conversation).toSorted((a, b) => b.changedAt - a.changedAt);
}

export async function saveConversation(conversation: Conversation): Promise<void> {
  // A browser that keeps nothing still lets its user chat.
  await set(conversation.id, conversation, store).catch(() => undefined);
}

export async function deleteConversation(id: string): Promise<void> {
  await del(id, store).catch(() => undefined);
}
