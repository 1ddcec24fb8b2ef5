/** Formats as the worker reads them from a template. */
import type { FormatChoice } from '../../packages/chat-templates/src/tool-format/format-names.ts';
import type { GivenFormat } from '../../packages/chat-templates/src/tool-format/tool-format.ts';
import { modelFormat } from '../../src/worker/prompt/model-format.ts';
import type { Vocabulary } from '../../src/worker/prompt/vocabulary.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import type { ModelFormat } from '../../packages/chat-templates/src/tool-format/tool-format.ts';
import { template, type TemplateName } from './templates.ts';

/** How a file of a user says that calls are written. */
export const MINE = {
  name: 'mine',
  trigger: '@call',
  section: { open: '', between: '\n', close: '' },
  call: { before: ['@call ', { slot: 'name' }, ' '], after: [' @end'] },
  arguments: { kind: 'json', spacing: 'spaced' },
  atStart: false,
  several: true,
};

/** Null: the stand-in for models without a template. */
export function formatOfTemplate(name: TemplateName | null): ModelFormat {
  return formatOfSource(name === null ? undefined : template(name));
}

export function formatOfSource(
  source: string | undefined,
  toolFormat: FormatChoice | GivenFormat = 'auto',
): ModelFormat {
  const vocabulary = { bosText: '<s>', eosText: '</s>', controlTexts: [] };
  return modelFormat({
    template: openTemplate(source),
    vocabulary: vocabulary as unknown as Vocabulary,
    toolFormat,
  });
}
