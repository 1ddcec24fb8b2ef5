/** What was written and attached and not sent, for each conversation, kept in this browser until it is. */
import { signal } from '@preact/signals';
import { readStored, store, storedNames } from '../../parts/stored.ts';
import { attachedDrafts, setAttached } from './attachments.ts';
import type { Conversation } from './conversation.ts';
import { noteKept, whyUnkept } from './keeping.ts';

const NAME = 'hearth.draft.';
/** What was written where nothing was said yet; such a conversation has another id on each visit. */
export const NEW_DRAFT = 'new';

export const draftNameOf = ({ id, entries }: Conversation): string => (entries.length === 0 ? NEW_DRAFT : id);
/** What is written about an entry: another text in its place, or the result of its call. */
export const draftNameBelow = (conversation: string, part: string): string => `${conversation} ${part}`;

const drafts = signal<Readonly<Record<string, string>>>({});

/** After a reload, what this tab had comes before what another wrote in the same conversation. */
export const draftOf = (draft: string): string =>
  drafts.value[draft] ?? readStored(NAME + draft, 'tab closed') ?? readStored(NAME + draft) ?? '';

export function setDraft(draft: string, text: string): void {
  drafts.value = { ...drafts.value, [draft]: text };
  const kept = text === '' ? null : text;
  store(NAME + draft, kept, 'tab closed');
  const why = store(NAME + draft, kept);
  noteKept(`text ${draft}`, kept === null ? null : why);
}

/** Puts what was typed to another conversation, unless something is there. */
export function moveDraft(from: string, to: string): void {
  if (draftOf(to) === '') setDraft(to, draftOf(from));
  setDraft(from, '');
}

/** What of a draft this browser does not keep, and what helps; null: it keeps all. */
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

/** All that are kept. */
export const draftNames = (): string[] => [
  ...storedNames(NAME).map((name) => name.slice(NAME.length)),
  ...attachedDrafts(),
];

/** Drops drafts of conversations that are gone. */
export function sweepDrafts(names: readonly string[], isThere: (conversation: string) => boolean): void {
  for (const name of new Set(names)) {
    const [conversation = ''] = name.split(' ');
    if (conversation === NEW_DRAFT || isThere(conversation)) continue;
    setDraft(name, '');
    setAttached(name, []);
  }
}
