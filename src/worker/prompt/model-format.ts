/** Form of a model's calls, thinking and text, derived from its template on first use. */
import { Check } from 'typebox/value';
import { STAND_IN } from '../../../packages/chat-templates/src/form/known-templates.ts';
import { thinkingMarks } from '../../../packages/chat-templates/src/form/thinking-marks.ts';
import { deriveFormat } from '../../../packages/chat-templates/src/tool-format/derive.ts';
import type { ModelFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { ModelFormatFacts } from '../../contract/job-event.ts';
import { withoutStop } from '../../lib/errors/entry.ts';
import { isSvcError, errorMessage, errorReason } from '../../lib/errors/svc-error.ts';
import { probeTemplate, type PromptWriter, surroundings } from './prompt.ts';
import type { ChatTemplate } from './template.ts';
import { unlimitedTokens } from './unlimited-tokens.ts';

const formats = new WeakMap<ChatTemplate, ModelFormat>();

export function modelFormat({
  template,
  vocabulary,
  toolFormat = 'auto',
}: Omit<PromptWriter, 'guard' | 'tokens'>): ModelFormat {
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

export function formatFacts(writer: PromptWriter): ModelFormatFacts | null {
  const { evidence, ...format } = modelFormat(writer);
  const defect = plainDefect(writer, format);
  const facts: unknown = {
    template: writer.template.source === STAND_IN.source ? 'none' : 'own',
    format,
    unlimitedTokens: unlimitedTokens(writer),
    evidence: [
      ...(defect === null ? [] : [{ about: 'template', says: defect, probe: 'a question' }]),
      ...evidence,
    ],
  };
  return Check(ModelFormatFacts, facts) ? facts : null;
}

const QUESTION = 'QUESTION7401';

/** Reason why the model cannot take a plain question, or only in another form; null: it can. */
function plainDefect(
  writer: PromptWriter,
  { toolsVariable }: Pick<ModelFormat, 'toolsVariable'>,
): string | null {
  try {
    const rendered = probeTemplate(writer, { turns: [{ role: 'user', content: QUESTION }], toolsVariable });
    return rendered.includes(QUESTION) ? null : 'The template leaves out what the user says.';
  } catch (error) {
    const reason = isSvcError(error) ? errorReason(error) : errorMessage(error);
    return `The template refuses a plain question: ${withoutStop(reason)}.`;
  }
}
