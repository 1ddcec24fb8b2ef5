/** Work for a conversation or one of its entries, which ends when that is removed, in whichever tab. */
import { effect } from '@preact/signals';
import { isThere } from './conversations.ts';

interface Work {
  readonly conversation: string;
  /** Null: for its unsent message. */
  readonly entry: string | null;
  readonly abort: AbortController;
}

const works = new Set<Work>();

/** Aborts `abort` if what it works for is removed before the returned function is called. */
export function workFor(conversation: string, entry: string | null, abort: AbortController): () => void {
  const work = { conversation, entry, abort };
  works.add(work);
  return () => void works.delete(work);
}

effect(() => {
  const isLeft = isThere.value;
  for (const { conversation, entry, abort } of works) if (!isLeft(conversation, entry)) abort.abort();
});
