/** How a model puts conversations: by the template and the tool format that its user chose, else by those of its file. */
import type { ModelFormatFacts } from '../../contract/job-event.ts';
import type { FormatSpec, LoadSpec } from '../../contract/load.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import { knownTemplate } from '../../lib/chat-template/known-templates.ts';
import { fail, isSvcError, messageOf, reasonOf } from '../../lib/errors/svc-error.ts';
import { readTemplateFile } from '../../lib/gguf/gate/template-file.ts';
import { type FormatChoice, isFormatChoice } from '../../lib/tool-format/format-names.ts';
import { readFormatFile } from '../../lib/tool-format/given/format-file.ts';
import type { GivenFormat } from '../../lib/tool-format/given/format-shape.ts';
import type { ModelTexts, NativeBackend } from '../native.ts';
import { formatFacts } from '../prompt/model-format.ts';
import type { PromptWriter } from '../prompt/prompt.ts';
import { type ChatTemplate, openKnownTemplate, openTemplate } from '../prompt/template.ts';
import { promptWriter } from '../prompt/writer.ts';
import { loadFailure } from './load.ts';

type Chosen = Pick<LoadSpec, 'modelId' | 'settings'>;

export interface Writers {
  readonly writer: PromptWriter;
  /** For conversations with tools; null: the other one puts these too. */
  readonly toolWriter: PromptWriter | null;
}

/** Throws `load_setting_unusable` for a chosen template or format that cannot be used. */
export async function writersOf(
  chosen: Chosen,
  { vocabulary, chatTemplate, toolTemplate }: ModelTexts,
): Promise<Writers> {
  const template = await templateOf(chosen, chatTemplate);
  const second = toolTemplateOf(chosen, toolTemplate);
  const toolFormat = await toolFormatOf(chosen);
  const writer = (one: ChatTemplate): PromptWriter => promptWriter(one, vocabulary, toolFormat);
  return { writer: writer(template), toolWriter: second === null ? null : writer(second) };
}

/** How the model in a file would write; null where it cannot be told in a message. */
export async function formatOfFile(
  backend: NativeBackend,
  spec: FormatSpec,
): Promise<ModelFormatFacts | null> {
  try {
    const { writer, toolWriter } = await writersOf(spec, await backend.openTexts(spec.path));
    return formatFacts(toolWriter ?? writer);
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

async function templateOf(chosen: Chosen, ofFile: string | null): Promise<ChatTemplate> {
  const { template } = chosen.settings;
  if (template === undefined) return openTemplate(ofFile ?? undefined);
  const known = knownTemplate(template);
  if (known !== undefined) return openKnownTemplate(known);
  return usable(chosen, 'template', async () => openTemplate(await readTemplateFile(template)));
}

/** The template of the file for conversations with tools; null where it has none, or its user chose one for all. */
function toolTemplateOf({ settings }: Chosen, ofFile: string | null): ChatTemplate | null {
  if (settings.template !== undefined || ofFile === null || ofFile.trim() === '') return null;
  try {
    return openTemplate(ofFile);
  } catch {
    // The first one puts tools as well, so that a second one that cannot be used takes nothing from the model.
    return null;
  }
}

async function toolFormatOf(chosen: Chosen): Promise<FormatChoice | GivenFormat> {
  const { toolFormat = 'auto' } = chosen.settings;
  return isFormatChoice(toolFormat)
    ? toolFormat
    : usable(chosen, 'toolFormat', () => readFormatFile(toolFormat));
}

async function usable<Result>(
  { modelId }: Chosen,
  setting: 'template' | 'toolFormat',
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const { wire } = LOAD_SETTINGS[setting];
    throw fail('load_setting_unusable', { model: modelId, setting: wire, reason: whyNot(error) }, error);
  }
}

function whyNot(error: unknown): string {
  if (isSvcError(error)) return reasonOf(error);
  return messageOf(error);
}
