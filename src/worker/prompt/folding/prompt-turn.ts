/**
 * worker/prompt/folding owns the conversion of conversations that a template refuses or leaves a part of out: to the
 * nearest one that the template accepts. It knows no template by name.
 */
import type { Turn } from '../../../contract/job.ts';
import { Text } from '../../../../packages/chat-templates/src/jinja/values/text.ts';

export type PromptTurn = Omit<Turn, 'content'> & { readonly content: string | Text };

export function toText(content: string | Text): Text {
  return typeof content === 'string' ? Text.client(content) : content;
}
