import { signal } from '@preact/signals';
import { freshId } from '../../parts/fresh-id.ts';
import { isAbort, sentenceOf } from '../../service/client.ts';
import { DEFAULT_MODEL, isLocal, modelNamed } from '../../service/known.ts';
import { workFor } from './at-work.ts';
import { attachedImages } from './attachments.ts';
import { pathTo, withEntry, withLeaf } from './conversation.ts';
import { change, current } from './conversations.ts';
import type { Entry } from './entry.ts';
import { requestOf } from './settings.ts';

type State = { readonly abort: AbortController } | { readonly fault: string };

/** By conversation and entry, which a branch shares with its origin. */
const provings = signal<Readonly<Record<string, State>>>({});
const provingKey = (conversation: string, { id }: Entry): string => `${conversation} ${id}`;

function setState(key: string, state: State | null): void {
  const { [key]: _, ...others } = provings.value;
  provings.value = state === null ? others : { ...others, [key]: state };
}

export const findProving = (entry: Entry): State | undefined =>
  provings.value[provingKey(current.value.id, entry)];

export function isProving(entry: Entry): boolean {
  const state = findProving(entry);
  return state !== undefined && 'abort' in state;
}

/** Only this service signs, and a record covers no images. */
export function canProve({ model = DEFAULT_MODEL, text, calls = [], parent }: Entry): boolean {
  const known = modelNamed(model);
  const hasImages = pathTo(current.value, parent).some(({ files }) => attachedImages(files).length > 0);
  return text !== '' && calls.length === 0 && known !== undefined && isLocal(known) && !hasImages;
}

export async function prove(lane: number, entry: Entry): Promise<void> {
  const { id: conversationId, settings } = current.value;
  const { model = DEFAULT_MODEL } = entry;
  const request = JSON.stringify(requestOf(model, pathTo(current.value, entry.parent), settings));
  const abort = new AbortController();
  const key = provingKey(conversationId, entry);
  const endWork = workFor(conversationId, entry.id, abort);
  setState(key, { abort });
  try {
    const { signedAnswer } = await import('../../proof/signed-answer.ts');
    const { text, ...proof } = await signedAnswer(request, abort.signal);
    abort.signal.throwIfAborted();
    const { parent, tries, asked } = entry;
    const signed: Entry = {
      id: freshId(),
      parent,
      role: 'assistant',
      text,
      model,
      finish: 'stop',
      proof,
      ...(tries === undefined ? {} : { tries }),
      ...(asked === undefined ? {} : { asked }),
    };
    change(conversationId, (now) => {
      const added = withEntry(now, signed);
      return now.lanes[lane]?.leaf === entry.id ? withLeaf(added, lane, signed.id) : added;
    });
    setState(key, null);
  } catch (error) {
    setState(key, isAbort(error) ? null : { fault: sentenceOf(error) });
  } finally {
    endWork();
  }
}
