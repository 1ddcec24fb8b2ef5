/**
 * ui/chat/rail owns the list of conversations: by day, and searched. It does not know how one is shown. This file: which
 * stand together. Pure.
 */
import type { Conversation } from '../talk/conversation.ts';

export interface Group {
  readonly title: string;
  /** Its title is the name that the user gave it. */
  readonly isFolder: boolean;
  readonly conversations: readonly Conversation[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Pinned ones, then folders by their names with their pinned members first, then the others by day, the latest first. */
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

/** In the order of their first members; those without a title are left out. */
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

/** The names of all folders, pinned members counted, in alphabetical order. */
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
