/** How this model writes calls, thinking and words: read from its template when it is first asked for. */
import { STAND_IN } from '../../lib/chat-template/known-templates.ts';
import { thinkingMarks } from '../../lib/chat-template/thinking-marks.ts';
import { deriveFormat } from '../../lib/tool-format/derive.ts';
import type { ModelFormat } from '../../lib/tool-format/tool-format.ts';
import type { ModelFormatFacts } from '../../contract/job-event.ts';
import { type PromptWriter, surroundings } from './prompt.ts';
import type { ChatTemplate } from './template.ts';

const formats = new WeakMap<ChatTemplate, ModelFormat>();

export function modelFormat({
  template,
  vocabulary,
  toolFormat = 'auto',
}: Omit<PromptWriter, 'guard'>): ModelFormat {
  const known = formats.get(template);
  if (known !== undefined) return known;
  const format = deriveFormat({
    source: template.source,
    render: (variables) => template.render({ ...surroundings(vocabulary, 0), ...variables }).string,
    choice: toolFormat,
    knownThinking: thinkingMarks(template.source, vocabulary.controlTexts),
  });
  formats.set(template, format);
  return format;
}

/** The same for people. */
export function formatFacts(
  { source }: ChatTemplate,
  { tools, thinking, content, history, evidence }: ModelFormat,
): ModelFormatFacts {
  return {
    template: source === STAND_IN.source ? 'none' : 'own',
    native: tools !== null,
    several: tools?.several === true,
    thinking,
    content: content === null ? null : { open: content.open, close: content.close },
    history: history.calls,
    evidence: [...evidence],
  };
}
