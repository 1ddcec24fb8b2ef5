import { type Fields } from '../../../../lib/base/json.ts';
import type { Turn } from '../../../../contract/job.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import type { CompactionItem, InputItem } from '../../../../wire/responses/items.ts';
import type { ContextEdit } from '../../../engine/ports.ts';
import { usualEdits } from '../../chat/compaction/context-edits.ts';
import { fieldsAt, typeAt } from '../fields.ts';
import { sealTurns } from '../sealed-turns.ts';
import { newId } from './item-words.ts';

export function compactionItem(turns: readonly Turn[]): CompactionItem {
  return { id: newId('cmp'), type: 'compaction', encrypted_content: sealTurns(turns) };
}

/** Adds the members that Open Responses requires of an item in an answer. */
export function messageItem(item: InputItem): InputItem {
  const { content } = item;
  return {
    ...item,
    type: 'message',
    id: item.id ?? newId('msg'),
    status: 'completed',
    content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
  };
}

export interface AskedCompaction {
  readonly edits: readonly ContextEdit[] | undefined;
  readonly ignored: readonly string[];
}

export function readManagement(entries: readonly Fields[] | null | undefined): AskedCompaction {
  if (entries === null || entries === undefined) return { edits: undefined, ignored: [] };
  const edits: ContextEdit[] = [];
  const ignored: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const path = `context_management[${index}]`;
    const fields = fieldsAt(entry, path);
    const type = typeAt(fields, path);
    const { compact_threshold: threshold } = fields;
    if (type !== 'compaction') ignored.push(`${path}.${type}`);
    else if (threshold === undefined || threshold === null) edits.push(...usualEdits(USUAL_TRIGGER));
    else if (!Number.isSafeInteger(threshold) || Number(threshold) < 1)
      throw refusal(`${path}.compact_threshold`, 'must be a whole number of tokens');
    else edits.push(...usualEdits({ of: 'tokens', value: Number(threshold) }));
  }
  return { edits, ignored };
}

/** Default threshold of a request, share of the window. */
const USUAL_TRIGGER = { of: 'window', value: 0.8 } as const;
