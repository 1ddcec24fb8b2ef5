/**
 * ui/chat/rail owns the list of conversations: by day, and searched. It does not know how one is shown. This file:
 * its groups.
 */
import type { Conversation } from '../talk/conversation.ts';

export interface Group {
  readonly title: string;
  readonly isFolder: boolean;
  readonly conversations: readonly Conversation[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Pinned conversations, then folders by name with pinned members first, then the others by day, latest first. */
export function grouped(conversations: readonly Conversation[], nowMs: number): Group[] {
  const pinnedFirst = conversations.toSorted(
    (a, b) => Number(b.isPinned ?? false) - Number(a.isPinned ?? false),
  );
  const folders = groupsBy(pinnedFirst, ({ folder }) => folder);
  const free = pinnedFirst.filter(({ folder }) => folder === undefined);
  const days = groupsBy(free, ({ isPinned, changedAt }) =>
    isPinned ? undefined : titleOf(changedAt, nowMs),
  );
  return [
    ...groupsBy(free, ({ isPinned }) => (isPinned ? 'Pinned' : undefined)).map((group) => ({
      ...group,
      isFolder: false,
    })),
    ...folders
      .toSorted((a, b) => a.title.localeCompare(b.title))
      .map((group) => ({ ...group, isFolder: true })),
    ...days.map((group) => ({ ...group, isFolder: false })),
  ];
}

function groupsBy(
  conversations: readonly Conversation[],
  titleFor: (conversation: Conversation) => string | undefined,
): Omit<Group, 'isFolder'>[] {
  const titles = new Map<string, Conversation[]>();
  for (const each of conversations) {
    const title = titleFor(each);
    if (title !== undefined) titles.set(title, [...(titles.get(title) ?? []), each]);
  }
  return [...titles].map(([title, members]) => ({ title, conversations: members }));
}

/** In alphabetical order, including folders of pinned conversations. */
export const foldersOf = (conversations: readonly Conversation[]): string[] =>
  [...new Set(conversations.flatMap(({ folder }) => folder ?? []))].toSorted((a, b) => a.localeCompare(b));

function titleOf(thenMs: number, nowMs: number): string {
  const today = new Date(nowMs).setHours(0, 0, 0, 0);
  if (thenMs >= today) return 'Today';
  if (thenMs >= today - DAY_MS) return 'Yesterday';
  if (thenMs >= today - 7 * DAY_MS) return 'Last 7 days';
  if (thenMs >= today - 30 * DAY_MS) return 'Last 30 days';
  return new Date(thenMs).toLocaleDateString('en', { month: 'long', year: 'numeric' });
}
