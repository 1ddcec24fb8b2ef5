/** The conversations of the playground, and the answers that are being made. */
import { computed, type Signal, signal } from '@preact/signals';
import { chatModels } from '../../service/known.ts';
import { type AnswerSoFar, noAnswer, streamAnswer } from '../../service/answer-stream.ts';
import { isAbort, sentenceOf } from '../../service/client.ts';
import { deleteConversation, loadConversations, saveConversation } from '../../storage/conversations.ts';
import {
  type Conversation,
  type Entry,
  type Measures,
  newConversation,
  pathTo,
  withChangedEntry,
  withEntry,
  withLeaf,
} from './conversation.ts';
import { requestOf } from './settings.ts';

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

/** An empty conversation with the models and settings of the one at hand. */
export function begin(): void {
  const fresh = newConversation(chatModels.value[0]?.id ?? 'default', current.value);
  add([fresh]);
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

export function remove(id: string): void {
  all.value = all.value.filter((each) => each.id !== id);
  void deleteConversation(id);
  if (currentId.value === id) begin();
}

/** Changes a conversation, wherever the user looks meanwhile, and keeps it. */
export function change(id: string, how: (conversation: Conversation) => Conversation): void {
  const old = all.value.find((each) => each.id === id);
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
  void answer(currentId.value, lane);
}

/** Says something else in the place of a prompt; what followed it stays on its own branch. */
export function sayInstead(lane: number, entry: Entry, text: string): void {
  const id = crypto.randomUUID();
  changeCurrent((now) =>
    withLeaf(withEntry(now, { id, parent: entry.parent, role: 'user', text }), lane, id),
  );
  void answer(currentId.value, lane);
}

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

async function answer(conversationId: string, laneAt: number): Promise<void> {
  const conversation = all.value.find(({ id }) => id === conversationId);
  const lane = conversation?.lanes[laneAt];
  if (conversation === undefined || lane === undefined) return;
  const entry: Entry = {
    id: crypto.randomUUID(),
    parent: lane.leaf,
    role: 'assistant',
    text: '',
    model: lane.model,
  };
  change(conversationId, (now) => withLeaf(withEntry(now, entry), laneAt, entry.id));
  const job = begun(entry.id);
  try {
    const request = requestOf(lane.model, pathTo(conversation, lane.leaf), conversation.settings);
    const whole = await streamAnswer(request, { signal: job.abort.signal, onChange: job.show });
    change(conversationId, (now) => withChangedEntry(now, finished(entry, whole)));
  } catch (failure) {
    const partial = finished(entry, job.latest());
    const end = isAbort(failure) ? { finish: 'stopped' as const } : { failure: sentenceOf(failure) };
    change(conversationId, (now) => withChangedEntry(now, { ...partial, ...end }));
  } finally {
    running.delete(entry.id);
    runningIds.value = new Set(running.keys());
  }
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

function measuresOf({ usage, timings, firstMs }: AnswerSoFar): { measures?: Measures } {
  if (usage === null) return {};
  const measures = {
    firstMs,
    tokensPerSecond: timings?.predicted_per_second ?? null,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    answerTokens: usage.completion_tokens,
    draftedTokens: timings?.draft_n_accepted ?? 0,
  };
  return { measures };
}
