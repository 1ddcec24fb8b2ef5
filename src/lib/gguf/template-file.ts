import { isTemplateText } from '../../../packages/chat-templates/src/form/known-templates.ts';
import { TEMPLATE_LIMITS } from '../../../packages/chat-templates/src/form/limits.ts';
import { sizeDefect } from '../../../packages/chat-templates/src/form/template-form.ts';
import { fail } from '../errors/svc-error.ts';
import { readSettingFile, type SettingFile } from '../files/plain-file.ts';
import { templateDefect } from '../../../packages/gguf/src/gate/template-checks.ts';

const TEMPLATE_FILE: SettingFile = { as: 'a chat template', mostBytes: TEMPLATE_LIMITS.sourceBytes };

/** Throws `setting_file_unusable`, `file_not_found` or `store_unreadable`. */
export async function readTemplateFile(path: string): Promise<string> {
  const source = await readSettingFile(path, TEMPLATE_FILE);
  const defect = templateTextDefect(source);
  if (defect === undefined) return source;
  throw fail('setting_file_unusable', { path, as: TEMPLATE_FILE.as, reason: `it ${defect}` });
}

export function templateTextDefect(source: string): string | undefined {
  if (source.trim() === '') return 'is empty';
  const defect = sizeDefect(Buffer.byteLength(source)) ?? templateDefect(source);
  return defect ?? (isTemplateText(source) ? undefined : 'has no tag such as {{ messages[0].content }}');
}
