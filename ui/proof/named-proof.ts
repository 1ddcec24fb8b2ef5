import { change, kept } from '../chat/talk/conversations.ts';
import type { Conversation } from '../chat/talk/conversation.ts';
import type { Entry, Proof } from '../chat/talk/entry.ts';
import { type Checked, headlineOf } from './check.ts';
import { hold } from './proof-state.ts';
import { meetService } from './trust.ts';

interface Named {
  readonly conversation: Conversation;
  readonly entry: Entry;
  readonly proof: Proof;
}

export function findNamed(id: string | null): Named | null {
  if (id === null) return null;
  for (const conversation of kept.value) {
    const entry = conversation.entries.find((each) => each.id === id);
    if (entry?.proof !== undefined) return { conversation, entry, proof: entry.proof };
  }
  return null;
}

export async function showNamed(id: string | null): Promise<void> {
  const named = findNamed(id);
  if (named === null) return;
  const { conversation, proof } = named;
  const { record, request } = proof;
  // A stopped service proves nothing new; its key may be known already.
  const ready = meetService().catch(() => undefined);
  const held = { record, request, from: 'from a conversation', subject: conversation.title };
  keepVerdict(named, await hold(id, held, ready));
}

/** Stores the result in the conversation, unless the check was not possible here. */
function keepVerdict({ conversation, entry, proof }: Named, judged: Checked): void {
  const verdict = headlineOf(judged);
  const isKnown = proof.isUnchecked === undefined && proof.verdict === verdict;
  if (judged.exitCode === 2 || isKnown) return;
  const { record, request } = proof;
  const kept: Proof = { record, request, verdict, isVerified: judged.exitCode === 0 };
  change(conversation.id, (now) => ({
    ...now,
    entries: now.entries.map((each) => (each.id === entry.id ? { ...each, proof: kept } : each)),
  }));
}
