/**
 * ui/chat/rail owns the list of conversations: by day, and searched. It does not know how one is shown. This file: which
 * stand together. Pure.
 */
import type { Conversation } from '../talk/conversation.ts';

export interface Group {
  readonly title: string;
  readonly conversations: readonly Conversation[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** By when something was said last, the latest first; those that are pinned stand above. */
export function grouped(conversations: readonly Conversation[], nowMs: number): Group[] {
  const titles = new Map<string, Conversation[]>();
  const put = (title: string, conversation: Conversation): void => {
    titles.set(title, [...(titles.get(title) ?? []), conversation]);
  };
  const pinned = conversations.filter(({ isPinned }) => isPinned);
  for (const each of pinned) put('Pinned', each);
  for (const each of conversations.filter(({ isPinned }) => !isPinned))
    put(titleOf(each.changedAt, nowMs), each);
  return [...titles].map(([title, members]) => ({ title, conversations: members }));
}

function titleOf(thenMs: number, nowMs: number): string {
  const today = new Date(nowMs).setHours(0, 0, 0, 0);
  if (thenMs >= today) return 'Today';
  if (thenMs >= today - DAY_MS) return 'Yesterday';
  if (thenMs >= today - 7 * DAY_MS) return 'Last 7 days';
  return new Date(thenMs).toLocaleDateString('en', { month: 'long', year: 'numeric' });
}
