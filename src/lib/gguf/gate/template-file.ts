/** A chat template in a file of its own, held to what one inside of a model is held to. */
import { TEMPLATE_LIMITS } from '../../chat-template/limits.ts';
import { fail } from '../../errors/svc-error.ts';
import { readSettingFile, type SettingFile } from '../../files/plain-file.ts';
import { templateDefect } from './template-checks.ts';

const TEMPLATE_FILE: SettingFile = { as: 'a chat template', mostBytes: TEMPLATE_LIMITS.sourceBytes };

/** Throws `setting_file_unusable`, `file_not_found` or `store_unreadable`. */
export async function readTemplateFile(path: string): Promise<string> {
  const source = await readSettingFile(path, TEMPLATE_FILE);
  const defect = source.trim() === '' ? 'is empty' : templateDefect(source);
  if (defect === undefined) return source;
  throw fail('setting_file_unusable', { path, as: TEMPLATE_FILE.as, reason: `it ${defect}` });
}
