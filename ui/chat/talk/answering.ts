import { computed, type Signal, signal } from '@preact/signals';
import { freshId } from '../../parts/fresh-id.ts';
import { type AnswerSoFar, noAnswer, streamAnswer } from '../../service/answer-stream.ts';
import { isAbort, Refusal, sentenceOf } from '../../service/client.ts';
import { refreshRecording } from '../../service/recording.ts';
import { workFor } from './at-work.ts';
import { type Attachment, attachedImages } from './attachments.ts';
import {
  type Conversation,
  laneWith,
  openCalls,
  pathTo,
  withBelow,
  withChangedEntry,
  withEntriesBack,
  withEntry,
  withLeaf,
  withoutEntries,
} from './conversation.ts';
import { change, changeCurrent, current, find } from './conversations.ts';
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

/** Sent messages of each conversation, for effects that follow each. */
const sends = signal<Readonly<Record<string, number>>>({});
export const countSends = (conversation: string): number => sends.value[conversation] ?? 0;
function countSend(conversation: string): void {
  sends.value = { ...sends.value, [conversation]: countSends(conversation) + 1 };
}

export const answerOf = (entry: Entry): Signal<AnswerSoFar> | undefined =>
  runningIds.value.has(entry.id) ? running.get(entry.id)?.answer : undefined;

/** Sends a prompt to every lane; lanes that end at the same entry share it. */
export function say(text: string, files: readonly Attachment[] = [], id = current.value.id): void {
  const { lanes = [] } = find(id) ?? {};
  const said = new Map<string | null, string>();
  lanes.forEach(({ leaf }, lane) => {
    const entry = said.get(leaf) ?? freshId();
    const prompt = { id: entry, parent: leaf, role: 'user' as const, text, ...filesOf({ files }) };
    if (!said.has(leaf)) change(id, (now) => withEntry(now, prompt));
    said.set(leaf, entry);
    change(id, (now) => withLeaf(now, lane, entry));
  });
  countSend(id);
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

/** Does nothing if no column shows the entry any more. */
export function sayInstead(
  { conversation, lane: wanted, entry }: Place,
  text: string,
  files: readonly Attachment[] = entry.files ?? [],
): void {
  const lane = laneWith(find(conversation), entry.id, wanted);
  if (lane === null) return;
  const said: Entry = { ...insteadOf(entry), ...filesOf({ files }), id: freshId(), role: 'user', text };
  putInstead(conversation, lane, said);
  countSend(conversation);
  void answer(conversation, { lane });
}

/** An entry in a column, which may be another or none by the time of its use. */
export interface Place {
  readonly conversation: string;
  readonly lane: number;
  readonly entry: Entry;
}

export function writeInstead(lane: number, { model, ...entry }: Entry, text: string): void {
  const written: Entry = { ...insteadOf(entry), id: freshId(), role: 'assistant', text, isEdited: true };
  const whole: Entry = { ...written, finish: 'stop', ...(model === undefined ? {} : { model }) };
  putInstead(current.value.id, lane, whole);
}

const putInstead = (conversation: string, lane: number, entry: Entry): void =>
  change(conversation, (now) => withLeaf(withEntry(now, entry), lane, entry.id));

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
  takenOut.value = { from, entries };
  changeCurrent((now) => withoutEntries(now, entries));
}

export function undoTakeOut(): void {
  const taken = takenOut.value;
  if (taken === null) return;
  takenOut.value = null;
  const { lanes, entries } = taken.from;
  change(taken.from.id, (now) => ({
    ...withEntriesBack(now, taken.entries, entries),
    // Columns and models may have changed since.
    lanes: now.lanes.map((lane, at) => ({ ...lane, leaf: lanes[at]?.leaf ?? lane.leaf })),
  }));
}

/** Sends the results once each open call of the entry has one; while no column ends there, they wait. */
export function answerCalls(
  { conversation, lane: wanted, entry }: Place,
  getResult: (callId: string) => string | undefined,
): boolean {
  const now = find(conversation);
  const lane = laneWith(now, entry.id, wanted);
  if (now === undefined || lane === null) return false;
  const open = openCalls(pathTo(now, now.lanes[lane]?.leaf ?? null)).map(({ id }) => id);
  const isOfEntry = open.length > 0 && open.every((id) => entry.calls?.some((call) => call.id === id));
  if (!isOfEntry || open.some((id) => getResult(id) === undefined)) return false;
  for (const callId of open) {
    const parent = find(conversation)?.lanes[lane]?.leaf ?? null;
    const text = getResult(callId) ?? '';
    putInstead(conversation, lane, { id: freshId(), parent, role: 'tool', callId, text });
  }
  void answer(conversation, { lane });
  return true;
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
    settle(conversationId, finished(entry, whole));
  } catch (failure) {
    const partial = finished(entry, job.latest());
    const end = isAbort(failure) ? { finish: 'stopped' as const } : failed(failure);
    settle(conversationId, { ...partial, ...end });
  } finally {
    job.end();
    void refreshRecording();
  }
}

/** Also where it waits to be restored: its removal may have stopped it. */
function settle(conversationId: string, ended: Entry): void {
  change(conversationId, (now) => withChangedEntry(now, ended));
  const taken = takenOut.value;
  if (taken === null) return;
  const entries = taken.entries.map((each) => (each.id === ended.id ? ended : each));
  takenOut.value = { ...taken, entries };
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
  const endWork = workFor(conversationId, entry.id, abort);
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
      endWork();
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
