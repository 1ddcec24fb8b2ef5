/**
 * worker/prompt/folding owns how a conversation is put to a template that refuses it or leaves a part of it out: as the nearest
 * one that the template takes. It knows no template by name. This file: a turn before a template writes it.
 */
import type { Turn } from '../../../contract/job.ts';
import { Text } from '../../../../packages/chat-templates/src/jinja/values/text.ts';

/** A turn whose content may hold words of our own. */
export type PromptTurn = Omit<Turn, 'content'> & { readonly content: string | Text };

export function toText(content: string | Text): Text {
  return typeof content === 'string' ? Text.client(content) : content;
}
