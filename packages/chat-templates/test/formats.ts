/** Formats as they are read from a template by rendering it. */
import { thinkingMarks } from '../src/form/thinking-marks.ts';
import { openTemplate } from '../src/template.ts';
import { deriveFormat } from '../src/tool-format/derive.ts';
import type { FormatChoice } from '../src/tool-format/format-names.ts';
import type { GivenFormat, ModelFormat } from '../src/tool-format/tool-format.ts';
import { template as source, type TemplateName } from '../../../test/support/templates.ts';
import { surroundings } from './surroundings.ts';

/** Null: the stand-in for models without a template. */
export function formatOfTemplate(name: TemplateName | null): ModelFormat {
  return formatOfSource(name === null ? undefined : source(name));
}

export function formatOfSource(
  given: string | undefined,
  choice: FormatChoice | GivenFormat = 'auto',
): ModelFormat {
  const template = openTemplate(given);
  return deriveFormat({
    source: template.source,
    render: (variables) => template.render({ ...surroundings, ...variables }).string,
    choice,
    knownThinking: thinkingMarks(template.source, []),
  });
}
