/**
 * ui/chat/talk owns what is said and asked, apart from any screen. It does not know how a request travels. This file: a
 * conversation as a tree of entries, so that no answer is lost when it is asked for again, and one lane per model that is asked beside others. Pure: every change gives a new conversation.
 */
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import { emptySettings, type Settings } from './settings.ts';

export interface Measures {
  readonly firstMs: number | null;
  readonly tokensPerSecond: number | null;
  /** Absent where an answer was stopped before the service told it. */
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly answerTokens: number;
  /** The context window that it was written in, tokens; absent: not told. */
  readonly window?: number;
  /** The figures of a stopped answer are counted here, by the pieces that came. */
  readonly isEstimate?: true;
  readonly draftedTokens: number;
}

export interface Entry {
  readonly id: string;
  readonly parent: string | null;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly reasoning?: string;
  readonly calls?: readonly ToolCall[];
  /** Which call a tool entry answers. */
  readonly callId?: string;
  readonly model?: string;
  /** Why an answer ended: as the service says, or `stopped` by the user. */
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'repetition' | 'stopped';
  /** Entries that were tried for one another have it in common; absent: all of one parent were. */
  readonly tries?: string;
  /** What the answer had to be, and where it had to end, as far as that was asked for. */
  readonly asked?: Asked;
  readonly failure?: string;
  readonly failureCode?: string;
  readonly remarks?: readonly string[];
  readonly measures?: Measures;
}

/** What an answer was asked to be. */
export interface Asked {
  readonly isJson: boolean;
  /** Tokens at most. */
  readonly limit: number | null;
}

/** One column: a model, and the last entry of its path through the tree. */
export interface Lane {
  readonly model: string;
  readonly leaf: string | null;
}

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly changedAt: number;
  /** In the order in which they came. */
  readonly entries: readonly Entry[];
  readonly lanes: readonly Lane[];
  readonly settings: Settings;
}

const MOST_TITLE = 60;

/** An empty one, with the models of another if one is given; settings belong to the conversation they were made for. */
export function newConversation(model: string, from?: Conversation): Conversation {
  const lanes = from?.lanes.map((lane) => ({ ...lane, leaf: null })) ?? [{ model, leaf: null }];
  return {
    id: crypto.randomUUID(),
    title: '',
    changedAt: Date.now(),
    entries: [],
    lanes,
    settings: emptySettings(),
  };
}

/** The entries that lead to one, itself last. */
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

/** An entry and what was tried in its place. Answers to one prompt in several columns are no tries of each other. */
export function alternatives({ entries }: Conversation, entry: Entry): Entry[] {
  return entries.filter(
    ({ parent, role, callId, tries }) =>
      parent === entry.parent && role === entry.role && callId === entry.callId && tries === entry.tries,
  );
}

/** The newest entry that can be reached below one by answers of a model, else by any, or the entry itself. */
export function newestBelow(conversation: Conversation, id: string, model?: string): string {
  const own = reach(conversation, id, (entry) => entry.role !== 'assistant' || entry.model === model);
  return own === id ? reach(conversation, id, () => true) : own;
}

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
  const title = isFirst ? titleOf(entry.text) : conversation.title;
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

/** Another model beside the others; it starts from what the first lane has said. */
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

/** A conversation of its own that begins with the path to an entry. */
export function branchAt(conversation: Conversation, { model, leaf }: Lane): Conversation {
  const entries = pathTo(conversation, leaf);
  const fresh = newConversation(model);
  const { settings, title } = conversation;
  return { ...fresh, title, settings, entries, lanes: [{ model, leaf }] };
}

/** The calls of the last answer of a path that nobody has answered yet. */
export function openCalls(path: readonly Entry[]): readonly ToolCall[] {
  const at = path.findLastIndex(({ role }) => role !== 'tool');
  const answered = new Set(path.slice(at + 1).map(({ callId }) => callId));
  return path[at]?.calls?.filter(({ id }) => !answered.has(id)) ?? [];
}

function titleOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE - 1)}…` : line;
}
