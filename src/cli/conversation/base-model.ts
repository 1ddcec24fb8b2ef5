import { BASE_MODEL_TOKENS } from '../../contract/limits.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';

export function baseModelWords(id: string): string {
  return [
    'has no chat template: a base model, which continues text rather than answers. /v1/completions suits it; chats get a stand-in template',
    `(ChatML), and end after ${BASE_MODEL_TOKENS} tokens without max_tokens. If it was trained on another template,`,
    `hearth set ${id} template=NAME names it (${LOAD_SETTINGS.template.expects}).`,
  ].join(' ');
}
