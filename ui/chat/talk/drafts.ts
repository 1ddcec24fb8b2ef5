/** Unsent text of each conversation, kept in this browser. */
import { signal } from '@preact/signals';
import { readStored, store, storedNames } from '../../parts/stored.ts';
import { attachedDrafts, setAttached } from './attachments.ts';
import type { Conversation } from './conversation.ts';
import { noteKept, whyUnkept } from './keeping.ts';

const NAME = 'hearth.draft.';
/** The draft of an empty conversation, which gets another id on each visit. */
export const NEW_DRAFT = 'new';

export const draftNameOf = ({ id, entries }: Conversation): string => (entries.length === 0 ? NEW_DRAFT : id);
/** The draft of an edited entry, or of the result of a call. */
export const draftNameBelow = (conversation: string, part: string): string => `${conversation} ${part}`;

const drafts = signal<Readonly<Record<string, string>>>({});

/** After a reload, the draft of this tab comes before that of another tab. */
export const draftOf = (draft: string): string =>
  drafts.value[draft] ?? readStored(NAME + draft, 'tab closed') ?? readStored(NAME + draft) ?? '';

export function setDraft(draft: string, text: string): void {
  drafts.value = { ...drafts.value, [draft]: text };
  const kept = text === '' ? null : text;
  store(NAME + draft, kept, 'tab closed');
  const why = store(NAME + draft, kept);
  noteKept(`text ${draft}`, kept === null ? null : why);
}

/** Moves the text to another draft, unless that has text. */
export function moveDraft(from: string, to: string): void {
  if (draftOf(to) === '') setDraft(to, draftOf(from));
  setDraft(from, '');
}

/** A warning that the browser does not keep this draft, with the remedy; null: it does. */
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
