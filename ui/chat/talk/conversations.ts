/** Conversations of this browser, and the open one. Each change is stored at once. */
import { computed, effect, signal, untracked } from '@preact/signals';
import { place, rename } from '../../parts/address.ts';
import { readStored, store } from '../../parts/stored.ts';
import { holdTab } from '../../parts/tab.ts';
import { DEFAULT_MODEL } from '../../service/known.ts';
import { keepAttachedAgain, restoreAttached } from './attachments.ts';
import { type Conversation, newConversation, pathTo, withChangedEntry } from './conversation.ts';
import { closed } from './entry.ts';
import { adoptDraft, draftNameOf, draftNames, moveDraft, newDraft, sweepDrafts } from './drafts.ts';
import { areAllKept, unkeptConversations } from './keeping.ts';
import { followed } from './merge.ts';
import { keepNew, readNew } from './new-conversation.ts';
import { activeSettings, type Settings } from './settings.ts';
import {
  answerLeft,
  changeStored,
  deleteConversation,
  loadConversations,
  saveConversation,
  watchOtherTabs,
} from './storage.ts';

const all = signal<readonly Conversation[]>([readNew()]);
const currentId = signal(all.peek()[0]?.id ?? '');

export const kept = computed(() =>
  all.value.filter(({ entries }) => entries.length > 0).toSorted((a, b) => b.changedAt - a.changedAt),
);
export const current = computed(
  () => all.value.find(({ id }) => id === currentId.value) ?? newConversation(DEFAULT_MODEL),
);
export const isRestored = signal(false);

/** True for a conversation that this tab knows and, unless null, an entry of it. */
export const isThere = computed(() => {
  const byId = new Map(all.value.map((each) => [each.id, each.entries]));
  return (id: string, entry: string | null): boolean => {
    const entries = byId.get(id);
    return entries !== undefined && (entry === null || entries.some((each) => each.id === entry));
  };
});

const LAST = 'hearth.last';

const wantedAtStart = (): string | null => place.peek().id ?? readStored(LAST);

/** Draft of the message field. Before conversations are read: the draft of the one that will open. */
export const draftName = computed(() =>
  isRestored.value ? draftNameOf(current.value) : (wantedAtStart() ?? newDraft()),
);

export async function restore(): Promise<void> {
  addEventListener('beforeunload', (event) => {
    if (!areAllKept()) event.preventDefault();
  });
  // Drafts first: a conversation that another tab begins meanwhile is unknown here, and its draft must not be
  // dropped.
  const loading = Promise.all([restoreAttached(), holdTab()]).then(async () => ({
    names: draftNames(),
    stored: await loadConversations(),
  }));
  // Changes that another tab stores during the read are applied after it.
  watchOtherTabs(loading, takeFromOtherTab);
  const { names, stored } = await loading;
  const ids = new Set(stored?.map(({ id }) => id));
  const wanted = wantedAtStart();
  if (wanted !== null && !ids.has(wanted)) moveDraft(wanted, newDraft());
  if (stored !== null) sweepDrafts(names, (id) => ids.has(id));
  await adoptDraft(names);
  // A file may have brought some of them in already.
  const early = all.value.map((mine) => {
    const same = stored?.find(({ id }) => id === mine.id);
    return same === undefined ? mine : followed(mine, same);
  });
  all.value = [...early, ...(stored ?? []).filter(({ id }) => find(id) === undefined)];
  isRestored.value = true;
  for (const conversation of stored ?? []) settleOpen(conversation);
  effect(() => {
    const { view, id } = place.value;
    if (view === 'chat') untracked(() => show(id));
  });
  effect(() => keepNew(current.value));
}

/** An address without a conversation means the last one at the start, and later a new one. */
let isStart = true;

function show(id: string | null): void {
  const wanted = id ?? (isStart ? readStored(LAST) : currentId.peek());
  isStart = false;
  if (wanted !== null && all.peek().some((each) => each.id === wanted)) currentId.value = wanted;
  name();
}

function name(): void {
  const { id, entries } = current.peek();
  if (place.peek().view === 'chat') rename('chat', entries.length === 0 ? null : id);
  if (entries.length > 0) store(LAST, id);
}

export function open(id: string): void {
  currentId.value = id;
  name();
}

/** Settings left with the previous conversation when a new one began. */
export const leftSettings = signal<Settings | null>(null);
export const begins = signal(0);

/** Keeps the models; the settings stay with the previous conversation and can be restored. */
export function begin(): void {
  const { settings, entries } = current.value;
  if (activeSettings(settings).length > 0) leftSettings.value = settings;
  else if (entries.length > 0) leftSettings.value = null;
  add([newConversation(DEFAULT_MODEL, current.value)]);
  store(LAST, null);
  begins.value += 1;
}

export function add(conversations: readonly Conversation[]): void {
  const [first] = conversations;
  if (first === undefined) return;
  const ids = new Set(conversations.map(({ id }) => id));
  all.value = [
    ...conversations,
    ...all.value.filter(({ entries, id }) => entries.length > 0 && !ids.has(id)),
  ];
  for (const each of conversations) if (each.entries.length > 0) void saveConversation(each);
  open(first.id);
}

/** Restorable until the page is closed. */
export const removed = signal<Conversation | null>(null);

export function undoRemove(): void {
  const back = removed.value;
  if (back === null) return;
  removed.value = null;
  all.value = [...all.value, back];
  void saveConversation(back);
  if (wasOpen) open(back.id);
}

let wasOpen = false;

export function remove(id: string): void {
  wasOpen = currentId.value === id;
  removed.value = all.value.find((each) => each.id === id) ?? null;
  all.value = all.value.filter((each) => each.id !== id);
  void deleteConversation(id).then(keepAgain);
  if (currentId.value === id) begin();
}

function keepAgain(): void {
  for (const id of unkeptConversations()) {
    const conversation = find(id);
    if (conversation !== undefined) void saveConversation(conversation);
  }
  keepAttachedAgain();
}

export function change(id: string, how: (conversation: Conversation) => Conversation): void {
  // If its removal stopped an answer, the partial answer is restored with it.
  if (removed.value?.id === id) removed.value = how(removed.value);
  const old = find(id);
  if (old === undefined) return;
  const changed = { ...how(old), editedAt: Date.now() };
  put(changed);
  if (changed.entries.length > 0) void saveConversation(changed);
  if (old.entries.length === 0 && id === currentId.value) name();
}

export const changeCurrent = (how: (conversation: Conversation) => Conversation): void =>
  change(currentId.value, how);

export function lastAnswer(): string | null {
  const path = pathTo(current.value, current.value.lanes[0]?.leaf ?? null);
  return path.findLast(({ role, text }) => role === 'assistant' && text !== '')?.text ?? null;
}

export const find = (id: string): Conversation | undefined => all.peek().find((each) => each.id === id);

function put(changed: Conversation): void {
  all.value = all.value.map((each) => (each.id === changed.id ? changed : each));
}

function takeFromOtherTab(id: string, stored: Conversation | null): void {
  const mine = find(id);
  if (stored === null) {
    if (mine === undefined) return;
    all.value = all.value.filter((each) => each.id !== id);
    if (currentId.value !== id) return;
    // Keeps the unsent message.
    moveDraft(id, newDraft());
    begin();
    return;
  }
  if (mine === undefined) all.value = [...all.value, stored];
  else put(followed(mine, stored));
  settleOpen(stored);
}

/** Marks answers as cut once the tabs that wrote them are gone. */
const watched = new Set<string>();
function settleOpen({ id, entries }: Conversation): void {
  for (const entry of entries.filter((each) => each.isOpen === true && !watched.has(each.id))) {
    watched.add(entry.id);
    void answerLeft(entry.id).then(() => markCut(id, entry.id));
  }
}

/** The writer may have stored the end before it left, so the stored state decides. */
async function markCut(id: string, entryId: string): Promise<void> {
  watched.delete(entryId);
  const stored = await changeStored(id, (now) => {
    const entry = now.entries.find((each) => each.id === entryId);
    return entry?.isOpen === true ? withChangedEntry(now, { ...closed(entry), finish: 'cut' }) : now;
  });
  if (stored !== null) takeFromOtherTab(id, stored);
}
