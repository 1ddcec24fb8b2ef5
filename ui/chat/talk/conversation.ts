/**
 * ui/chat/talk owns conversations and their requests, apart from any screen. It does not know how a request travels.
 * This file: a conversation as a tree of entries, so that no answer is lost if it is repeated, and one lane per
 * model. Pure: every change returns a new conversation.
 */
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import { freshId } from '../../parts/fresh-id.ts';
import type { Entry } from './entry.ts';
import { emptySettings, type Settings } from './settings.ts';

export interface Lane {
  readonly model: string;
  readonly leaf: string | null;
}

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly changedAt: number;
  /** Time of the last change of any kind; absent: `changedAt`. */
  readonly editedAt?: number;
  readonly isPinned?: true;
  readonly folder?: string;
  /** Keyed by entry id. Keeps other tabs from restoring what was taken out, or the reverse. */
  readonly removals?: Readonly<Record<string, Removal>>;
  readonly entries: readonly Entry[];
  readonly lanes: readonly Lane[];
  readonly settings: Settings;
}

export interface Removal {
  readonly at: number;
  readonly isRemoved: boolean;
}

const MOST_TITLE = 60;
export const MOST_FOLDER = 60;

/** Takes only models of `from`, because settings belong to the conversation that they were made for. */
export function newConversation(model: string, from?: Conversation): Conversation {
  const lanes = from?.lanes.map((lane) => ({ ...lane, leaf: null })) ?? [{ model, leaf: null }];
  return {
    id: freshId(),
    title: '',
    changedAt: Date.now(),
    entries: [],
    lanes,
    settings: emptySettings(),
  };
}

export function pathTo({ entries }: Conversation, leaf: string | null): Entry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: Entry[] = [];
  for (let at = leaf; at !== null; ) {
    const entry = byId.get(at);
    if (entry === undefined) break;
    path.push(entry);
    at = entry.parent;
  }
  return path.reverse();
}

/** The column that shows an entry: `wanted`, if it still does. Null: none. */
export function laneWith(
  conversation: Conversation | undefined,
  entry: string,
  wanted: number,
): number | null {
  const { lanes = [] } = conversation ?? {};
  const shows = ({ leaf }: Lane): boolean =>
    conversation !== undefined && pathTo(conversation, leaf).some(({ id }) => id === entry);
  const all = lanes.flatMap((lane, at) => (shows(lane) ? [at] : []));
  return all.includes(wanted) ? wanted : (all[0] ?? null);
}

/** Answers to one prompt in several columns are not versions of each other. */
export function alternatives({ entries }: Conversation, entry: Entry): Entry[] {
  return entries.filter(
    ({ parent, role, callId, tries }) =>
      parent === entry.parent && role === entry.role && callId === entry.callId && tries === entry.tries,
  );
}

/** Answers to the same message in any column; empty ones do not count. */
export function siblingAnswers(conversation: Conversation, id: string): Entry[] {
  const { entries, lanes } = conversation;
  const parentId = entries.find((entry) => entry.id === id)?.parent;
  const asked = entries.find((entry) => entry.id === parentId);
  const depth = (leaf: string | null): number => pathTo(conversation, leaf).length;
  // Columns that have parted have the same message below different answers.
  const isSame = (parent: string | null): boolean =>
    parent === parentId ||
    (lanes.length > 1 &&
      entries.find((entry) => entry.id === parent)?.text === asked?.text &&
      depth(parent) === depth(parentId ?? null));
  return entries.filter(
    ({ parent, role, text, isOpen }) =>
      role === 'assistant' && text !== '' && isOpen !== true && isSame(parent),
  );
}

/** Prefers answers of `model`, then any; the entry itself if it has no followers. */
export function newestBelow(conversation: Conversation, id: string, model?: string): string {
  const own = reach(conversation, id, (entry) => entry.role !== 'assistant' || nameOf(entry) === model);
  return own === id ? reach(conversation, id, () => true) : own;
}

const nameOf = ({ asked, model }: Entry): string | undefined => asked?.model ?? model;

function reach({ entries }: Conversation, id: string, isWanted: (entry: Entry) => boolean): string {
  let newest = id;
  const below = new Set([id]);
  for (const entry of entries) {
    if (entry.parent === null || !below.has(entry.parent) || !isWanted(entry)) continue;
    below.add(entry.id);
    newest = entry.id;
  }
  return newest;
}

export function withEntry(conversation: Conversation, entry: Entry): Conversation {
  const entries = [...conversation.entries, entry];
  const isFirst = conversation.title === '' && entry.role === 'user';
  const title = isFirst ? titleOf(entry.text || (entry.files?.[0]?.name ?? '')) : conversation.title;
  return { ...conversation, entries, title, changedAt: Date.now() };
}

export function withChangedEntry(conversation: Conversation, changed: Entry): Conversation {
  const entries = conversation.entries.map((entry) => (entry.id === changed.id ? changed : entry));
  return { ...conversation, entries, changedAt: Date.now() };
}

export function withLeaf(conversation: Conversation, lane: number, leaf: string | null): Conversation {
  const lanes = conversation.lanes.map((each, at) => (at === lane ? { ...each, leaf } : each));
  return { ...conversation, lanes };
}

export function withLane(conversation: Conversation, model: string): Conversation {
  const leaf = conversation.lanes[0]?.leaf ?? null;
  return { ...conversation, lanes: [...conversation.lanes, { model, leaf }] };
}

export function withoutLane(conversation: Conversation, lane: number): Conversation {
  return { ...conversation, lanes: conversation.lanes.filter((_, at) => at !== lane) };
}

export function withModel(conversation: Conversation, lane: number, model: string): Conversation {
  const lanes = conversation.lanes.map((each, at) => (at === lane ? { ...each, model } : each));
  return { ...conversation, lanes };
}

export function withPin(conversation: Conversation, isPinned: boolean): Conversation {
  const { isPinned: _, ...rest } = conversation;
  return isPinned ? { ...rest, isPinned } : rest;
}

export function withFolder(conversation: Conversation, folder: string | null): Conversation {
  const { folder: _, ...rest } = conversation;
  const name = folder?.trim().slice(0, MOST_FOLDER) ?? '';
  return name === '' ? rest : { ...rest, folder: name };
}

export function branchAt(conversation: Conversation, { model, leaf }: Lane): Conversation {
  const entries = pathTo(conversation, leaf);
  const fresh = newConversation(model);
  const { settings, title, folder = null } = conversation;
  const branch = { ...fresh, title: `${title} (branch)`, settings, entries, lanes: [{ model, leaf }] };
  return withFolder(branch, folder);
}

export function withBelow({ entries }: Conversation, id: string): Entry[] {
  const below = new Set([id]);
  for (const entry of entries) if (entry.parent !== null && below.has(entry.parent)) below.add(entry.id);
  return entries.filter((entry) => below.has(entry.id));
}

/** Columns that ended at removed entries show another version, or end before them. */
export function withoutEntries(conversation: Conversation, gone: readonly Entry[]): Conversation {
  const byId = new Map(gone.map((entry) => [entry.id, entry]));
  const entries = conversation.entries.filter(({ id }) => !byId.has(id));
  const left = { ...conversation, entries, removals: { ...conversation.removals, ...marked(gone, true) } };
  const lanes = conversation.lanes.map((lane) => {
    let [leaf, top] = [lane.leaf, undefined as Entry | undefined];
    while (leaf !== null && byId.has(leaf)) {
      top = byId.get(leaf);
      leaf = top?.parent ?? null;
    }
    const other = top === undefined ? undefined : alternatives(left, top).at(-1);
    return { ...lane, leaf: other === undefined ? leaf : newestBelow(left, other.id, lane.model) };
  });
  return { ...left, lanes };
}

/** Restores entries in their places of `from`. */
export function withEntriesBack(
  conversation: Conversation,
  back: readonly Entry[],
  from: readonly Entry[] = [],
): Conversation {
  const places = new Map(from.map(({ id }, at) => [id, at]));
  const indexIn = ({ id }: Entry): number => places.get(id) ?? from.length;
  return {
    ...conversation,
    entries: [...conversation.entries, ...back].toSorted((a, b) => indexIn(a) - indexIn(b)),
    removals: { ...conversation.removals, ...marked(back, false) },
  };
}

const marked = (entries: readonly Entry[], isRemoved: boolean): Record<string, Removal> =>
  Object.fromEntries(entries.map(({ id }) => [id, { at: Date.now(), isRemoved }]));

export function openCalls(path: readonly Entry[]): readonly ToolCall[] {
  const at = path.findLastIndex(({ role }) => role !== 'tool');
  const answered = new Set(path.slice(at + 1).map(({ callId }) => callId));
  return path[at]?.calls?.filter(({ id }) => !answered.has(id)) ?? [];
}

function titleOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE - 1)}…` : line;
}
