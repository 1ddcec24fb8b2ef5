/** What was typed and not sent, for each conversation, kept in this browser until it is. */
import { signal } from '@preact/signals';
import type { Conversation } from './conversation.ts';

const NAME = 'hearth.draft.';
/** What was typed where nothing was said yet; such a conversation has another id on each visit. */
const NEW = 'new';

export const draftNameOf = ({ id, entries }: Conversation): string => (entries.length === 0 ? NEW : id);

const drafts = signal<Readonly<Record<string, string>>>({});

export const draftOf = (conversation: string): string =>
  drafts.value[conversation] ?? localStorage.getItem(NAME + conversation) ?? '';

export function setDraft(conversation: string, text: string): void {
  drafts.value = { ...drafts.value, [conversation]: text };
  try {
    if (text === '') localStorage.removeItem(NAME + conversation);
    else localStorage.setItem(NAME + conversation, text);
  } catch {
    // Where the storage is full or closed, the draft lives as long as this tab.
  }
}
