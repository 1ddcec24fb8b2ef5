import { signal } from '@preact/signals';
import { readStored, store, storedNames } from '../../parts/stored.ts';
import { openTabs, tabId } from '../../parts/tab.ts';
import { attachedDrafts, attachedTo, moveReadings, setAttached } from './attachments.ts';
import type { Conversation } from './conversation.ts';
import { noteKept, whyUnkept } from './keeping.ts';

const NAME = 'hearth.draft.';
/** An empty conversation gets another id on each visit, so its draft has this name; each tab has its own. */
const NEW = 'new';
export const newDraft = (): string => draftNameBelow(NEW, tabId.value);

export const draftNameOf = ({ id, entries }: Conversation): string =>
  entries.length === 0 ? newDraft() : id;
export const draftNameBelow = (conversation: string, part: string): string => `${conversation} ${part}`;

const drafts = signal<Readonly<Record<string, string>>>({});

/** After a reload, this tab's draft precedes that of another tab. */
export const draftOf = (draft: string): string =>
  drafts.value[draft] ?? readStored(NAME + draft, 'tab closed') ?? readStored(NAME + draft) ?? '';

export function setDraft(draft: string, text: string): void {
  drafts.value = { ...drafts.value, [draft]: text };
  const kept = text === '' ? null : text;
  store(NAME + draft, kept, 'tab closed');
  const why = store(NAME + draft, kept);
  noteKept(`text ${draft}`, kept === null ? null : why);
}

const isEmpty = (draft: string): boolean => draftOf(draft) === '' && attachedTo(draft).length === 0;

/** With the files that are still being read. Does nothing if the other draft has text or files. */
export function moveDraft(from: string, to: string): void {
  if (!isEmpty(to)) return;
  setDraft(to, draftOf(from));
  setAttached(to, attachedTo(from));
  moveReadings(from, to);
  setDraft(from, '');
  setAttached(from, []);
}

/** Takes over the draft of an empty conversation from a closed tab. */
export async function adoptDraft(names: readonly string[]): Promise<void> {
  const mine = newDraft();
  const open = await openTabs();
  if (open === null || !isEmpty(mine)) return;
  const left = names.find((name) => {
    const [owner, tab = ''] = name.split(' ');
    return owner === NEW && name !== mine && !open.has(tab) && !isEmpty(name);
  });
  if (left !== undefined) moveDraft(left, mine);
}

export function draftFault(draft: string): string | null {
  const [text, files] = [whyUnkept(`text ${draft}`), whyUnkept(`files ${draft}`)];
  const why = files ?? text;
  if (why === null) return null;
  const what = [
    ...(text === null ? [] : ['its text']),
    ...(files === null ? [] : ['its attached files']),
  ].join(' and ');
  const reason =
    why === 'full'
      ? "This browser's storage for the page is full"
      : 'This browser does not let the page store anything';
  const help = why === 'full' ? 'Send it first, or remove conversations.' : 'Send it first.';
  return `${reason}: this message loses ${what} when the tab is closed or reloaded. ${help}`;
}

export const draftNames = (): string[] => [
  ...storedNames(NAME).map((name) => name.slice(NAME.length)),
  ...attachedDrafts(),
];

export function sweepDrafts(names: readonly string[], isThere: (conversation: string) => boolean): void {
  for (const name of new Set(names)) {
    const [conversation = ''] = name.split(' ');
    if (conversation === NEW || isThere(conversation)) continue;
    setDraft(name, '');
    setAttached(name, []);
  }
}
