/** Results of tool calls: typed by hand, or fetched from an MCP server whatever the page shows meanwhile. */
import { signal } from '@preact/signals';
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import { isAbort, sentenceOf } from '../../service/client.ts';
import { answerCalls, type Place } from './answering.ts';
import { workFor } from './at-work.ts';
import { draftNameBelow, draftOf, setDraft } from './drafts.ts';
import { runCall } from './remote-tools.ts';
import type { RemoteTool } from './settings.ts';

/** By the draft of the result. */
const returned = signal<Readonly<Record<string, string>>>({});
type Run = { readonly abort: AbortController } | { readonly fault: string } | 'over';
const runs = signal<Readonly<Record<string, Run>>>({});

const draftOfResult = ({ conversation, entry }: Place, callId: string): string =>
  draftNameBelow(conversation, `${entry.id} ${callId}`);

/** A server may return an empty text, which is a result all the same. */
export function findResult(place: Place, callId: string): string | undefined {
  const draft = draftOfResult(place, callId);
  return returned.value[draft] ?? (draftOf(draft) || undefined);
}

/** A typed result replaces the one of a server. */
export function typeResult(place: Place, callId: string, text: string): void {
  const draft = draftOfResult(place, callId);
  const run = runs.peek()[draft];
  if (typeof run === 'object' && 'abort' in run) run.abort.abort();
  const { [draft]: _, ...others } = returned.value;
  returned.value = others;
  setDraft(draft, text);
}

/** A call without a result returns an empty text. */
export function sendResults(place: Place): void {
  give(place, (callId) => findResult(place, callId) ?? '');
}

function give(place: Place, result: (callId: string) => string | undefined): void {
  if (!answerCalls(place, result)) return;
  for (const { id } of place.entry.calls ?? []) typeResult(place, id, '');
}

export const findRun = (place: Place, callId: string): Run | undefined =>
  runs.value[draftOfResult(place, callId)];

export async function runRemote(place: Place, call: ToolCall, tool: RemoteTool): Promise<void> {
  const draft = draftOfResult(place, call.id);
  const abort = new AbortController();
  const endWork = workFor(place.conversation, place.entry.id, abort);
  const setRun = (now: Run): void => {
    runs.value = { ...runs.value, [draft]: now };
  };
  setRun({ abort });
  try {
    const text = await runCall(call, tool, abort.signal);
    abort.signal.throwIfAborted();
    setRun('over');
    setDraft(draft, text);
    returned.value = { ...returned.value, [draft]: text };
    // The last result of a server sends all results; results typed by hand are sent by hand.
    give(place, (callId) => findResult(place, callId));
  } catch (error) {
    setRun(isAbort(error) ? 'over' : { fault: sentenceOf(error) });
  } finally {
    endWork();
  }
}
