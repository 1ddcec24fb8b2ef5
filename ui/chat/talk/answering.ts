import { computed, effect, type Signal, signal } from '@preact/signals';
import { freshId } from '../../parts/fresh-id.ts';
import { type AnswerSoFar, noAnswer, streamAnswer } from '../../service/answer-stream.ts';
import { isAbort, Refusal, sentenceOf } from '../../service/client.ts';
import { refreshRecording } from '../../service/recording.ts';
import { type Attachment, attachedImages } from './attachments.ts';
import {
  type Conversation,
  pathTo,
  withBelow,
  withChangedEntry,
  withEntriesBack,
  withEntry,
  withLeaf,
  withoutEntries,
} from './conversation.ts';
import { change, changeCurrent, current, find, removed } from './conversations.ts';
import { type Asked, closed, type Entry } from './entry.ts';
import { measuresOf } from './measures.ts';
import { requestOf, type Settings } from './settings.ts';
import { holdAnswer, saveConversation, written } from './storage.ts';

interface Running {
  readonly answer: Signal<AnswerSoFar>;
  readonly abort: AbortController;
}
const running = new Map<string, Running>();
const runningIds = signal<ReadonlySet<string>>(new Set());
export const isAnswering = computed(() => current.value.entries.some(({ id }) => runningIds.value.has(id)));

export const areAnswersHere = computed(() => runningIds.value.size > 0);

/** Counts sent messages, for effects that follow each. */
export const sends = signal(0);

export const answerOf = (entry: Entry): Signal<AnswerSoFar> | undefined =>
  runningIds.value.has(entry.id) ? running.get(entry.id)?.answer : undefined;

effect(() => {
  for (const { id } of removed.value?.entries ?? []) running.get(id)?.abort.abort();
});

/** Sends a prompt to every lane; lanes that end at the same entry share it. */
export function say(
  text: string,
  files: readonly Attachment[] = [],
  conversation: Conversation = current.value,
): void {
  const { id, lanes } = find(conversation.id) ?? current.value;
  const said = new Map<string | null, string>();
  lanes.forEach(({ leaf }, lane) => {
    const entry = said.get(leaf) ?? freshId();
    const prompt = { id: entry, parent: leaf, role: 'user' as const, text, ...filesOf({ files }) };
    if (!said.has(leaf)) change(id, (now) => withEntry(now, prompt));
    said.set(leaf, entry);
    change(id, (now) => withLeaf(now, lane, entry));
  });
  sends.value += 1;
  lanes.forEach((_, lane) => void answer(id, { lane }));
}

const filesOf = ({ files = [] }: Pick<Entry, 'files'>): Pick<Entry, 'files'> =>
  files.length === 0 ? {} : { files };

export function retry(lane: number, entry: Entry, model?: string): void {
  changeCurrent((now) => withLeaf(now, lane, entry.parent));
  void answer(current.value.id, { lane, tries: entry.tries, model });
}

export function goOn(lane: number, entry: Entry): void {
  changeCurrent((now) => withLeaf(now, lane, entry.parent));
  void answer(current.value.id, { lane, tries: entry.tries, begun: entry });
}

export function sayInstead(
  lane: number,
  entry: Entry,
  text: string,
  files: readonly Attachment[] = entry.files ?? [],
): void {
  putInstead(lane, { ...insteadOf(entry), ...filesOf({ files }), id: freshId(), role: 'user', text });
  sends.value += 1;
  void answer(current.value.id, { lane });
}

export function writeInstead(lane: number, { model, ...entry }: Entry, text: string): void {
  const written: Entry = { ...insteadOf(entry), id: freshId(), role: 'assistant', text, isEdited: true };
  putInstead(lane, { ...written, finish: 'stop', ...(model === undefined ? {} : { model }) });
}

const putInstead = (lane: number, entry: Entry): void =>
  changeCurrent((now) => withLeaf(withEntry(now, entry), lane, entry.id));

const insteadOf = ({ parent, tries }: Pick<Entry, 'parent' | 'tries'>): Pick<Entry, 'parent' | 'tries'> => ({
  parent,
  ...(tries === undefined ? {} : { tries }),
});

export const takenOut = signal<{ readonly from: Conversation; readonly entries: readonly Entry[] } | null>(
  null,
);

export function takeOut(entry: Entry): void {
  const from = current.value;
  const entries = withBelow(from, entry.id);
  for (const { id } of entries) running.get(id)?.abort.abort();
  takenOut.value = { from, entries };
  changeCurrent((now) => withoutEntries(now, entries));
}

export function undoTakeOut(): void {
  const taken = takenOut.value;
  if (taken === null) return;
  takenOut.value = null;
  const { lanes, entries } = taken.from;
  change(taken.from.id, (now) => ({ ...withEntriesBack(now, taken.entries, entries), lanes }));
}

export function answerCalls(lane: number, results: readonly { callId: string; text: string }[]): void {
  for (const { callId, text } of results) {
    const parent = current.value.lanes[lane]?.leaf ?? null;
    putInstead(lane, { id: freshId(), parent, role: 'tool', callId, text });
  }
  void answer(current.value.id, { lane });
}

export function stop(entry: Entry): void {
  running.get(entry.id)?.abort.abort();
}

export function stopAll(): void {
  for (const { id } of current.value.entries) running.get(id)?.abort.abort();
}

export function stopEverything(): void {
  for (const { abort } of running.values()) abort.abort();
}

interface Wanted {
  readonly lane: number;
  readonly tries?: string | undefined;
  readonly model?: string | undefined;
  readonly begun?: Entry;
}

async function answer(conversationId: string, wanted: Wanted): Promise<void> {
  const conversation = find(conversationId);
  const lane = conversation?.lanes[wanted.lane];
  if (conversation === undefined || lane === undefined) return;
  const { begun } = wanted;
  const model = wanted.model ?? begun?.model ?? lane.model;
  const entry: Entry = {
    id: freshId(),
    parent: lane.leaf,
    role: 'assistant',
    text: begun?.text ?? '',
    ...(begun?.reasoning === undefined ? {} : { reasoning: begun.reasoning }),
    model,
    tries: wanted.tries ?? freshId(),
    asked: askedOf(model, conversation.settings),
    isOpen: true,
  };
  change(conversationId, (now) => withLeaf(withEntry(now, entry), wanted.lane, entry.id));
  const job = begin(conversationId, entry);
  try {
    const path = pathTo(conversation, lane.leaf);
    const request = requestOf(model, begun === undefined ? path : [...path, begun], conversation.settings);
    const sent = begun === undefined ? request : { ...request, continue_final_message: true };
    const whole = await streamAnswer(sent, { signal: job.abort.signal, onChange: job.show });
    change(conversationId, (now) => withChangedEntry(now, finished(entry, whole)));
  } catch (failure) {
    const partial = finished(entry, job.latest());
    const end = isAbort(failure) ? { finish: 'stopped' as const } : failed(failure);
    change(conversationId, (now) => withChangedEntry(now, { ...partial, ...end }));
  } finally {
    job.end();
    void refreshRecording();
  }
}

function failed(failure: unknown): Partial<Entry> {
  const code = failure instanceof Refusal ? { failureCode: failure.code } : {};
  return { failure: sentenceOf(failure), ...code };
}

function askedOf(model: string, { schema, numbers }: Settings): Asked {
  const limit = Number(numbers.max_tokens ?? 0);
  return { model, isJson: schema.trim() !== '', limit: limit > 0 ? limit : null };
}

/** Stores partial answers this often, so that a closed page loses little; less often if images are stored with them. */
const KEEP_EVERY_MS = 400;
const IMAGE_CHARS_PER_KEEP = 500_000;

function keepEveryMs(conversationId: string): number {
  const files = find(conversationId)?.entries.flatMap(({ files: each = [] }) => each);
  const chars = attachedImages(files).reduce((sum, { url }) => sum + url.length, 0);
  return KEEP_EVERY_MS * (1 + chars / IMAGE_CHARS_PER_KEEP);
}

function begin(conversationId: string, entry: Entry) {
  const shown = signal(before(entry, noAnswer()));
  const abort = new AbortController();
  const everyMs = keepEveryMs(conversationId);
  let latest = noAnswer();
  let isDue = false;
  let keeping: ReturnType<typeof setTimeout> | undefined;
  let end = (): void => undefined;
  running.set(entry.id, { answer: shown, abort });
  runningIds.value = new Set(running.keys());
  holdAnswer(entry.id, new Promise<void>((resolve) => void (end = resolve)));
  return {
    abort,
    latest: () => latest,
    show: (answer: AnswerSoFar) => {
      latest = answer;
      keeping ??= setTimeout(() => {
        keeping = undefined;
        keepPartial(conversationId, { ...entry, ...said(entry, latest) });
      }, everyMs);
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        shown.value = before(entry, latest);
      });
    },
    end: () => {
      clearTimeout(keeping);
      // Other tabs read the stored state as soon as this one releases the answer.
      void written(conversationId).then(end);
      running.delete(entry.id);
      runningIds.value = new Set(running.keys());
    },
  };
}

function keepPartial(conversationId: string, partial: Entry): void {
  const conversation = find(conversationId);
  if (conversation !== undefined) void saveConversation(withChangedEntry(conversation, partial));
}

const before = (entry: Entry, answer: AnswerSoFar): AnswerSoFar => ({ ...answer, ...said(entry, answer) });

const said = ({ text, reasoning = '' }: Entry, answer: AnswerSoFar) => ({
  text: text + answer.text,
  reasoning: reasoning + answer.reasoning,
});

function finished(entry: Entry, answer: AnswerSoFar): Entry {
  const { calls, finish, remarks, model } = answer;
  const { text, reasoning } = said(entry, answer);
  return {
    ...closed(entry),
    text,
    ...(model === null ? {} : { model }),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { calls: [...calls] }),
    ...(finish === null ? {} : { finish }),
    ...(remarks.length === 0 ? {} : { remarks }),
    ...measuresOf(answer),
  };
}
