/**
 * ui/models/words owns what is said of models and of changes to them. It does not know how a change is made. This file: base
 * models, which continue text and hold no conversation. Pure.
 */
import type { Library } from '../../../src/wire/operation/library.ts';

export type LibraryModel = Library['models'][number];
type TemplateFacts = Pick<LibraryModel, 'kind' | 'chat_template' | 'texts'>;

/** A chat model without a template of its own, to which its user gave none either. */
export const isBaseModel = ({ kind, chat_template: hasTemplate, texts }: TemplateFacts): boolean =>
  kind === 'chat' && hasTemplate === false && texts['template'] === undefined;

export const BASE_MODEL_WORDS =
  'Base model: continues text; has no chat template. If it was trained to chat, set `template` under Settings.';

/** What to say of a model that was just installed; null: nothing. */
export function installedWords(model: LibraryModel | undefined, defaultId: string | null): string | null {
  if (model === undefined || !isBaseModel(model)) return null;
  const other =
    defaultId === null || defaultId === model.id
      ? ''
      : ` It did not become the default, because it is not a chat model; ${defaultId} remains the default.`;
  return `${model.id} is a base model: it continues text and has no chat template.${other} If it was trained to chat, set template under its Settings.`;
}
