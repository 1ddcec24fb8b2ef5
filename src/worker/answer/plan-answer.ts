/**
 * Decides for one job how the prompt is written, what the sampler may choose, and how the tokens are read.
 *   1. how tools are put: the family of the template, or the envelope in the system turn
 *   2. where thinking may stand, which the rendered end of the prompt shows
 *   3. one grammar for the whole answer, if anything is asked of it
 *   4. the reader that takes the answer apart
 */
import type { GenerateJob, ToolDefinition, Turn } from '../../contract/job.ts';
import type { AnswerPlan } from './answer.ts';
import { AnswerConstraint } from './constraint.ts';
import { answerGrammar, type AnswerGrammarRequest, type ThinkingPlace } from './answer-grammar.ts';
import { AnswerReader } from './answer-reader.ts';
import { type BodyReader, EnvelopeBody, FamilyBody, textBody } from './body-readers.ts';
import { withEnvelopeHistory, withoutToolRole, withToolsBlock } from './envelope.ts';
import { thinkingMarks } from '../../lib/chat-template/thinking-marks.ts';
import { thinkingBudget, thinkingVariables } from './reasoning.ts';
import { familyOfTemplate, toolFormatOf, type ToolFamily } from '../../lib/chat-template/tool-families.ts';
import type { NativeModel } from '../addon/native.ts';
import { pieceText, type PromptWriter, renderPrompt } from '../prompt/prompt.ts';

/** What planning asks of a chat model. */
export interface AnswerModel {
  readonly writer: PromptWriter;
  readonly model: Pick<NativeModel, 'newGrammar'>;
  readonly facts: { readonly numCtx: number };
}

export function planAnswer(job: GenerateJob, chat: AnswerModel): AnswerPlan {
  const { writer } = chat;
  const family = familyOfTemplate(writer.template.source);
  const tools = callableTools(job);
  const isChat = job.prompt.kind === 'chat';
  const templateTools = family === null ? [] : tools;
  const templateVariables = thinkingVariables(writer.template.source, job.reasoning);
  const turns = isChat ? preparedTurns(job, family, tools, writer) : [];
  const thinking = isChat ? thinkingOf(job, writer, templateVariables, templateTools) : NO_THINKING;
  const request: AnswerGrammarRequest = {
    format: job.format,
    tools: isChat ? tools : [],
    choice: job.toolChoice,
    family,
    thinking: thinking.place,
  };
  const gbnf = answerGrammar(request);
  const parser = new AnswerReader(thinking.place, bodyReader(request));
  const constrained = gbnf !== null || thinking.place.at !== 'nowhere';
  const room = job.maxTokens ?? Math.floor(Math.min(job.numCtx ?? chat.facts.numCtx, chat.facts.numCtx) / 2);
  return {
    turns,
    templateTools,
    templateVariables,
    prefill: thinking.prefill,
    parser,
    constraint: constrained
      ? new AnswerConstraint({
          model: chat.model,
          vocabulary: writer.vocabulary,
          request,
          gbnf,
          parser,
          budget: thinkingBudget(job.reasoning.budgetTokens, job.reasoning.effort, room),
        })
      : null,
    toolFormat: toolFormatOf(writer.template.source),
  };
}

function callableTools(job: GenerateJob): readonly ToolDefinition[] {
  const { toolChoice, tools } = job;
  if (toolChoice.mode === 'none') return [];
  return toolChoice.mode === 'named' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
}

function preparedTurns(
  job: GenerateJob,
  family: ToolFamily | null,
  tools: readonly ToolDefinition[],
  writer: PromptWriter,
): readonly Turn[] {
  const turns = job.prompt.kind === 'chat' ? job.prompt.turns : [];
  if (family !== null) return turns;
  // All tools are described even when one is named, so that the prompt, and its cached state, stay the same.
  const described = tools.length > 0 ? withToolsBlock(turns, job.tools) : turns;
  const written = withEnvelopeHistory(described);
  const hasResults = written.some(({ role }) => role === 'tool');
  return hasResults && !knowsToolRole(writer) ? withoutToolRole(written) : written;
}

const toolRoles = new WeakMap<PromptWriter, boolean>();

/** Some templates refuse roles that they do not know, or print nothing for them: tried once per model. */
function knowsToolRole(writer: PromptWriter): boolean {
  const known = toolRoles.get(writer);
  if (known !== undefined) return known;
  const works = printsToolTurn(writer);
  toolRoles.set(writer, works);
  return works;
}

function printsToolTurn(writer: PromptWriter): boolean {
  const result = 'tool result 7401';
  try {
    const turns: Turn[] = [
      { role: 'user', content: 'question' },
      { role: 'assistant', content: 'call' },
      { role: 'tool', content: result },
    ];
    return probe(writer, turns, [], {}).includes(result);
  } catch {
    // The template raised its own exception about the role, which is the answer to the question.
    return false;
  }
}

interface Thinking {
  readonly place: ThinkingPlace;
  readonly prefill: string;
}

const NO_THINKING: Thinking = { place: { at: 'nowhere' }, prefill: '' };

function thinkingOf(
  job: GenerateJob,
  writer: PromptWriter,
  variables: Readonly<Record<string, unknown>>,
  tools: readonly ToolDefinition[],
): Thinking {
  const marks = thinkingMarks(writer.template.source, writer.vocabulary.controlTexts);
  if (marks === null) return NO_THINKING;
  const end = probe(writer, [{ role: 'user', content: 'x' }], tools, variables).trimEnd();
  const opened = end.endsWith(marks.open);
  if (job.reasoning.enabled === false) {
    // A template without a switch of its own: an empty thought says the same.
    return opened ? { place: { at: 'nowhere' }, prefill: `\n${marks.close}\n\n` } : NO_THINKING;
  }
  if (end.endsWith(marks.close)) return NO_THINKING;
  return { place: { at: opened ? 'open' : 'choice', marks }, prefill: '' };
}

function probe(
  writer: PromptWriter,
  turns: readonly Turn[],
  tools: readonly ToolDefinition[],
  variables: Readonly<Record<string, unknown>>,
): string {
  return pieceText(renderPrompt(writer, { turns, tools, variables, prefill: '', clockMs: 0 }));
}

function bodyReader(request: AnswerGrammarRequest): BodyReader {
  const shaped = request.format.kind !== 'text';
  if (request.tools.length === 0) return textBody(shaped);
  return request.family === null ? new EnvelopeBody() : new FamilyBody(request.family, shaped);
}
