/** Which chat template a model gets: the one that its user chose, else that of its file, else the stand-in. */
import type { LoadSpec } from '../../contract/load.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import { knownTemplate } from '../../lib/chat-template/known-templates.ts';
import { fail, isSvcError, reasonOf } from '../../lib/errors/svc-error.ts';
import { readTemplateFile } from '../../lib/gguf/gate/template-file.ts';
import { type ChatTemplate, openKnownTemplate, openTemplate } from '../prompt/template.ts';

/** Throws `load_setting_unusable` for a chosen one that cannot be used. */
export async function templateOf(
  { modelId, settings }: Pick<LoadSpec, 'modelId' | 'settings'>,
  ofFile: string | null,
): Promise<ChatTemplate> {
  const { template } = settings;
  if (template === undefined) return openTemplate(ofFile ?? undefined);
  const known = knownTemplate(template);
  if (known !== undefined) return openKnownTemplate(known);
  try {
    return openTemplate(await readTemplateFile(template));
  } catch (error) {
    const setting = LOAD_SETTINGS.template.wire;
    throw fail('load_setting_unusable', { model: modelId, setting, reason: whyNot(error) }, error);
  }
}

/** The template of the file for conversations with tools; null where it has none, or its user chose one for all. */
export function toolTemplateOf(
  { settings }: Pick<LoadSpec, 'settings'>,
  ofFile: string | null,
): ChatTemplate | null {
  if (settings.template !== undefined || ofFile === null || ofFile.trim() === '') return null;
  try {
    return openTemplate(ofFile);
  } catch {
    // The first one puts tools as well, so that a second one that cannot be used takes nothing from the model.
    return null;
  }
}

function whyNot(error: unknown): string {
  if (isSvcError(error)) return reasonOf(error);
  return error instanceof Error ? error.message : String(error);
}
