/** The conversations of the playground, and the answers that are being made. */
import { computed, type Signal, signal } from '@preact/signals';
import { DEFAULT_MODEL } from '../../service/known.ts';
import { type AnswerSoFar, noAnswer, streamAnswer } from '../../service/answer-stream.ts';
import { isAbort, Refusal, sentenceOf } from '../../service/client.ts';
import {
  type Asked,
  type Conversation,
  type Entry,
  type Measures,
  newConversation,
  pathTo,
  withChangedEntry,
  withEntry,
  withLeaf,
} from './conversation.ts';
import { activeSettings, requestOf, type Settings } from './settings.ts';
import { createStore, del, entries, set } from 'idb-keyval';

const all = signal<readonly Conversation[]>([newConversation('default')]);
const currentId = signal(all.peek()[0]?.id ?? '');

/** Those that anything was said in, the latest first. */
export const kept = computed(() =>
  all.value.filter(({ entries }) => entries.length > 0).toSorted((a, b) => b.changedAt - a.changedAt),
);
export const current = computed(
  () => all.value.find(({ id }) => id === currentId.value) ?? newConversation('default'),
);

/** What is open beside the conversation. On a phone it covers it. */
export const aside = signal<'none' | 'history' | 'settings'>('none');
export const isCodeOpen = signal(false);

/** Answers that are being made, by their entries. */
interface Running {
  readonly answer: Signal<AnswerSoFar>;
  readonly abort: AbortController;
}
const running = new Map<string, Running>();
const runningIds = signal<ReadonlySet<string>>(new Set());
export const isAnswering = computed(() => current.value.entries.some(({ id }) => runningIds.value.has(id)));

export const answerOf = (entry: Entry): Signal<AnswerSoFar> | undefined =>
  runningIds.value.has(entry.id) ? running.get(entry.id)?.answer : undefined;

export async function restore(): Promise<void> {
  const stored = await loadConversations();
  all.value = [...all.value, ...stored];
}

export function open(id: string): void {
  currentId.value = id;
}

/** Settings that were left behind when a conversation was begun; null: there were none. */
export const leftSettings = signal<Settings | null>(null);

/** An empty conversation with the models of the one at hand. Its settings stay with that one, and can be fetched. */
export function begin(): void {
  const { settings, entries } = current.value;
  if (activeSettings(settings).length > 0) leftSettings.value = settings;
  else if (entries.length > 0) leftSettings.value = null;
  add([newConversation(DEFAULT_MODEL, current.value)]);
}

export function add(conversations: readonly Conversation[]): void {
  const [first] = conversations;
  if (first === undefined) return;
  all.value = [
    ...conversations,
    ...all.value.filter(({ entries, id }) => entries.length > 0 && id !== first.id),
  ];
  currentId.value = first.id;
  for (const each of conversations) if (each.entries.length > 0) void saveConversation(each);
}

/** The conversation that was removed last, until the page is closed; null: none. */
export const removed = signal<Conversation | null>(null);

export function undoRemove(): void {
  const back = removed.value;
  if (back === null) return;
  removed.value = null;
  all.value = [...all.value, back];
  void saveConversation(back);
}

export function remove(id: string): void {
  removed.value = all.value.find((each) => each.id === id) ?? null;
  for (const entry of removed.value?.entries ?? []) running.get(entry.id)?.abort.abort();
  all.value = all.value.filter((each) => each.id !== id);
  void deleteConversation(id);
  if (currentId.value === id) begin();
}

/** Changes a conversation, wherever the user looks meanwhile, and keeps it. */
export function change(id: string, how: (conversation: Conversation) => Conversation): void {
  const old = all.value.find((each) => each.id === id);
  // Where its answer was stopped by the removal, what had come is brought back with it.
  if (removed.value?.id === id) removed.value = how(removed.value);
  if (old === undefined) return;
  const changed = how(old);
  all.value = all.value.map((each) => (each.id === id ? changed : each));
  if (changed.entries.length > 0) void saveConversation(changed);
}

export const changeCurrent = (how: (conversation: Conversation) => Conversation): void =>
  change(currentId.value, how);

/** Puts a prompt to every lane. Lanes that stand at the same entry share it. */
export function say(text: string): void {
  const { id, lanes } = current.value;
  const said = new Map<string | null, string>();
  lanes.forEach(({ leaf }, lane) => {
    const entry = said.get(leaf) ?? crypto.randomUUID();
    if (!said.has(leaf)) change(id, (now) => withEntry(now, { id: entry, parent: leaf, role: 'user', text }));
    said.set(leaf, entry);
    change(id, (now) => withLeaf(now, lane, entry));
  });
  lanes.forEach((_, lane) => void answer(id, lane));
}

/** Asks for another answer in the place of one. */
export function retry(lane: number, entry: Entry): void {
  changeCurrent((now) => withLeaf(now, lane, entry.parent));
  void answer(currentId.value, lane, entry.tries);
}

/** Says something else in the place of a prompt; what followed it stays on its own branch. */
export function sayInstead(lane: number, entry: Entry, text: string): void {
  const id = crypto.randomUUID();
  changeCurrent((now) => withLeaf(withEntry(now, { ...insteadOf(entry), id, role: 'user', text }), lane, id));
  void answer(currentId.value, lane);
}

const insteadOf = ({ parent, tries }: Entry): Pick<Entry, 'parent' | 'tries'> => ({
  parent,
  ...(tries === undefined ? {} : { tries }),
});

/** Gives the results of calls, and lets the model go on. */
export function answerCalls(lane: number, results: readonly { callId: string; text: string }[]): void {
  for (const { callId, text } of results) {
    const id = crypto.randomUUID();
    const parent = current.value.lanes[lane]?.leaf ?? null;
    changeCurrent((now) => withLeaf(withEntry(now, { id, parent, role: 'tool', callId, text }), lane, id));
  }
  void answer(currentId.value, lane);
}

export function stop(entry: Entry): void {
  running.get(entry.id)?.abort.abort();
}

export function stopAll(): void {
  for (const { id } of current.value.entries) running.get(id)?.abort.abort();
}

/** `tries`: what it shares with the answer that it is made in place of. */
async function answer(
  conversationId: string,
  laneAt: number,
  tries: string | undefined = crypto.randomUUID(),
): Promise<void> {
  const conversation = all.value.find(({ id }) => id === conversationId);
  const lane = conversation?.lanes[laneAt];
  if (conversation === undefined || lane === undefined) return;
  const entry: Entry = {
    id: crypto.randomUUID(),
    parent: lane.leaf,
    role: 'assistant',
    text: '',
    model: lane.model,
    tries,
    asked: askedOf(conversation.settings),
  };
  change(conversationId, (now) => withLeaf(withEntry(now, entry), laneAt, entry.id));
  const job = begun(entry.id);
  try {
    const request = requestOf(lane.model, pathTo(conversation, lane.leaf), conversation.settings);
    const whole = await streamAnswer(request, { signal: job.abort.signal, onChange: job.show });
    change(conversationId, (now) => withChangedEntry(now, finished(entry, whole)));
  } catch (failure) {
    const partial = finished(entry, job.latest());
    const end = isAbort(failure) ? { finish: 'stopped' as const } : failed(failure);
    change(conversationId, (now) => withChangedEntry(now, { ...partial, ...end }));
  } finally {
    running.delete(entry.id);
    runningIds.value = new Set(running.keys());
  }
}

function failed(failure: unknown): Partial<Entry> {
  const code = failure instanceof Refusal ? { failureCode: failure.code } : {};
  return { failure: sentenceOf(failure), ...code };
}

function askedOf({ schema, numbers }: Settings): Asked {
  const limit = Number(numbers.max_tokens ?? 0);
  return { isJson: schema.trim() !== '', limit: limit > 0 ? limit : null };
}

/** An answer that is being made; what arrives is shown once per frame of the screen. */
function begun(id: string) {
  const shown = signal(noAnswer());
  const abort = new AbortController();
  let latest = noAnswer();
  let isDue = false;
  running.set(id, { answer: shown, abort });
  runningIds.value = new Set(running.keys());
  return {
    abort,
    latest: () => latest,
    show: (answer: AnswerSoFar) => {
      latest = answer;
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        shown.value = { ...latest };
      });
    },
  };
}

function finished(entry: Entry, answer: AnswerSoFar): Entry {
  const { text, reasoning, calls, finish, remarks } = answer;
  return {
    ...entry,
    text,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { calls: [...calls] }),
    ...(finish === null ? {} : { finish }),
    ...(remarks.length === 0 ? {} : { remarks }),
    ...measuresOf(answer),
  };
}

function measuresOf(answer: AnswerSoFar): { measures?: Measures } {
  const { usage, timings, firstMs, window } = answer;
  if (usage === null) return estimateOf(answer);
  const measures = {
    firstMs,
    tokensPerSecond: timings?.predicted_per_second ?? null,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    answerTokens: usage.completion_tokens,
    draftedTokens: timings?.draft_n_accepted ?? 0,
    ...(window === null ? {} : { window }),
  };
  return { measures };
}

/** Of an answer that did not come to its end: the service tells its figures last, so these are counted here. */
function estimateOf({ firstMs, lastMs, pieces }: AnswerSoFar): { measures?: Measures } {
  if (firstMs === null) return {};
  const span = lastMs - firstMs;
  const tokensPerSecond = pieces > 1 && span > 0 ? (1000 * (pieces - 1)) / span : null;
  return { measures: { firstMs, tokensPerSecond, answerTokens: pieces, draftedTokens: 0, isEstimate: true } };
}

const store = createStore('hearth', 'conversations');

/** The latest first. Empty where the browser keeps nothing, as in some private windows. */
async function loadConversations(): Promise<Conversation[]> {
  const all = await entries<string, Conversation>(store).catch(() => []);
  return all.map(([, conversation]) => conversation).toSorted((a, b) => b.changedAt - a.changedAt);
}

async function saveConversation(conversation: Conversation): Promise<void> {
  // A browser that keeps nothing still lets its user chat.
  await set(conversation.id, conversation, store).catch(() => undefined);
}

async function deleteConversation(id: string): Promise<void> {
  await del(id, store).catch(() => undefined);
}
