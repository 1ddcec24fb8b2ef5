import type { ModelFormatFacts } from '../../contract/job-event.ts';
import type { FormatSpec, LoadSpec } from '../../contract/load.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import { isTemplateText, knownTemplate } from '../../../packages/chat-templates/src/form/known-templates.ts';
import { fail, isSvcError, errorMessage, errorReason } from '../../lib/errors/svc-error.ts';
import { templateTextDefect } from '../../lib/gguf/template-file.ts';
import {
  type FormatChoice,
  isFormatChoice,
  isFormatText,
} from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import { readFormat } from '../../lib/tool-format/format-file.ts';
import type { GivenFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { ModelTexts, NativeBackend } from '../native.ts';
import { formatFacts } from '../prompt/model-format.ts';
import type { PromptWriter } from '../prompt/prompt.ts';
import { type ChatTemplate, openKnownTemplate, openTemplate } from '../prompt/template.ts';
import { promptWriter } from '../prompt/writer.ts';
import { loadFailure } from './load.ts';

type Chosen = Pick<LoadSpec, 'modelId' | 'settings'>;

interface Writers {
  readonly writer: PromptWriter;
  /** For conversations with tools; null: `writer` writes these too. */
  readonly toolWriter: PromptWriter | null;
}

/** Throws `load_setting_unusable` for a chosen template or format that cannot be used. */
export function openWriters(chosen: Chosen, { vocabulary, chatTemplate, toolTemplate }: ModelTexts): Writers {
  const template = chooseTemplate(chosen, chatTemplate);
  const second = chooseToolTemplate(chosen, toolTemplate);
  const toolFormat = chooseToolFormat(chosen);
  const writer = (one: ChatTemplate): PromptWriter => promptWriter(one, vocabulary, toolFormat);
  return { writer: writer(template), toolWriter: second === null ? null : writer(second) };
}

export async function formatOfFile(
  backend: NativeBackend,
  spec: FormatSpec,
): Promise<ModelFormatFacts | null> {
  try {
    const { writer, toolWriter } = openWriters(spec, await backend.openTexts(spec.path));
    return formatFacts(toolWriter ?? writer);
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

/** Value of older versions: a path, which no worker opens. */
const NO_TEXT = 'it names a file, which Hearth copies when the service starts; set it again with hearth set';

function chooseTemplate(chosen: Chosen, ofFile: string | null): ChatTemplate {
  const { template } = chosen.settings;
  if (template === undefined) return openTemplate(ofFile ?? undefined);
  const known = knownTemplate(template);
  if (known !== undefined) return openKnownTemplate(known);
  if (!isTemplateText(template)) throw unusable(chosen, 'template', NO_TEXT);
  const defect = templateTextDefect(template);
  if (defect !== undefined) throw unusable(chosen, 'template', `it ${defect}`);
  try {
    return openTemplate(template);
  } catch (error) {
    throw unusable(chosen, 'template', isSvcError(error) ? errorReason(error) : errorMessage(error), error);
  }
}

/** The file's template for conversations with tools; null without one, or if the user chose one for all. */
function chooseToolTemplate({ settings }: Chosen, ofFile: string | null): ChatTemplate | null {
  if (settings.template !== undefined || ofFile === null || ofFile.trim() === '') return null;
  try {
    return openTemplate(ofFile);
  } catch {
    // The first one supports tools as well, so an unusable second one costs the model nothing.
    return null;
  }
}

function chooseToolFormat(chosen: Chosen): FormatChoice | GivenFormat {
  const { toolFormat = 'auto' } = chosen.settings;
  if (isFormatChoice(toolFormat)) return toolFormat;
  const read = isFormatText(toolFormat) ? readFormat(toolFormat) : { defect: NO_TEXT };
  if ('defect' in read) throw unusable(chosen, 'toolFormat', read.defect);
  return read.given;
}

function unusable(
  { modelId }: Chosen,
  setting: 'template' | 'toolFormat',
  reason: string,
  cause?: unknown,
): Error {
  return fail(
    'load_setting_unusable',
    { model: modelId, setting: LOAD_SETTINGS[setting].wire, reason },
    cause,
  );
}
