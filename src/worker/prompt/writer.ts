import type { FormatChoice } from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import type { GivenFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { callLead, type ModelFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';
import { guardAgainst } from './guard.ts';
import { modelFormat } from './model-format.ts';
import { probeTemplate, type PromptWriter, surroundings } from './prompt.ts';
import type { ChatTemplate } from './template.ts';
import { templateMarks, toolMark } from './template-marks.ts';
import { PromptTokens } from './prompt-tokens.ts';
import type { Vocabulary } from './vocabulary.ts';

export function promptWriter(
  template: ChatTemplate,
  vocabulary: Vocabulary,
  toolFormat: FormatChoice | GivenFormat = 'auto',
): PromptWriter {
  const render = (variables: object): Text =>
    template.render({ ...surroundings(vocabulary, 0), ...variables });
  const marks = templateMarks(render, vocabulary);
  const format = modelFormat({ template, vocabulary, toolFormat });
  const guard = guardAgainst({ ...marks, texts: [...new Set([...marks.texts, ...writtenMarks(format)])] });
  const tokens = new PromptTokens(vocabulary, template.source);
  const writer = { template, vocabulary, guard, tokens, toolFormat, toolMark: toolMark(render) };
  // Some templates write calls, and leave the description of tools to the system turn (DeepSeek R1 and V3.1).
  return format.tools === null ? writer : { ...writer, tellsTools: tellsTools(writer, format) };
}

/** Opening of a call that is written into the content of a turn: the template itself may not know it. */
function writtenMarks({ tools, history }: ModelFormat): string[] {
  const mark = tools === null || history.calls === 'template' ? '' : callLead(tools).trim();
  return mark.length > 1 ? [mark] : [];
}

const NAME = 'tool7401';

function tellsTools(writer: PromptWriter, { toolsVariable }: ModelFormat): boolean {
  const turns = [{ role: 'user', content: 'question' }] as const;
  const tools = [{ name: NAME, description: '', parameters: { type: 'object', properties: {} } }];
  try {
    return probeTemplate(writer, { turns, tools, toolsVariable }).includes(NAME);
  } catch {
    // The template refuses tools, so they have to be described in another way.
    return false;
  }
}
