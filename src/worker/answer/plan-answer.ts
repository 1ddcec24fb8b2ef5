/**
 * Decides for one job how the answer is put to the model, what the sampler may choose, and how the tokens are read.
 *   1. how tools are put: the family of the template, or the envelope in the system turn
 *   2. where thinking may stand, which the rendered end of the prompt shows
 *   3. one grammar for the whole answer, if anything is asked of it
 *   4. once the prompt is known: the reader that takes the answer apart, and the constraint
 */
import type { GenerateJob, ToolDefinition } from '../../contract/job.ts';
import { familyOfTemplate, toolFormatOf, type ToolFamily } from '../../lib/chat-template/tool-families.ts';
import { thinkingMarks } from '../../lib/chat-template/thinking-marks.ts';
import type { NativeModel } from '../native.ts';
import { probeTemplate, type PromptWriter } from '../prompt/prompt.ts';
import type { Answer } from './answer.ts';
import { answerGrammar, type AnswerGrammarRequest, type ThinkingPlace } from './answer-grammar.ts';
import { AnswerReader } from './answer-reader.ts';
import { type BodyReader, EnvelopeBody, FamilyBody, textBody } from './body-readers.ts';
import { AnswerConstraint } from './constraint.ts';
import { thinkingBudget, thinkingVariables } from './reasoning.ts';

/** What planning asks of a chat model. */
export interface AnswerModel {
  readonly writer: PromptWriter;
  readonly model: Pick<NativeModel, 'newGrammar'>;
}

export interface AnswerPlan {
  readonly toolFormat: string;
  /** Null: tools are written into the turns, as envelopes. */
  readonly family: ToolFamily | null;
  /** The tools that may be called now. */
  readonly tools: readonly ToolDefinition[];
  /** Further variables of the template, such as `enable_thinking`. */
  readonly templateVariables: Readonly<Record<string, unknown>>;
  /** Text that the answer begins with, appended to the prompt as the template's own words. */
  readonly prefill: string;
  readonly reasoning: GenerateJob['reasoning'];
  readonly grammarRequest: AnswerGrammarRequest;
  /** The grammar of the whole answer, or null when the model may say anything. */
  readonly gbnf: string | null;
}

export function planAnswer(job: GenerateJob, writer: PromptWriter): AnswerPlan {
  const isChat = job.prompt.kind === 'chat';
  const family = familyOfTemplate(writer.template.source);
  const tools = isChat ? callableTools(job) : [];
  const templateVariables = thinkingVariables(writer.template.source, job.reasoning);
  const thinking = isChat
    ? thinkingOf(job, writer, templateVariables, family === null ? [] : tools)
    : NO_THINKING;
  const grammarRequest: AnswerGrammarRequest = {
    format: job.format,
    tools,
    choice: job.toolChoice,
    family,
    thinking: thinking.place,
  };
  return {
    toolFormat: toolFormatOf(writer.template.source),
    family,
    tools,
    templateVariables,
    prefill: thinking.prefill,
    reasoning: job.reasoning,
    grammarRequest,
    gbnf: answerGrammar(grammarRequest),
  };
}

/** The beginning of the answer: nothing is read yet. `room` is how many tokens it may have, thinking included. */
export function openAnswer(plan: AnswerPlan, room: number, chat: AnswerModel): Answer {
  const { grammarRequest: request, gbnf, reasoning } = plan;
  const parser = new AnswerReader(request.thinking, bodyReader(request));
  if (gbnf === null && request.thinking.at === 'nowhere') return { parser, constraint: null };
  const constraint = new AnswerConstraint({
    model: chat.model,
    vocabulary: chat.writer.vocabulary,
    request,
    gbnf,
    parser,
    budget: thinkingBudget(reasoning.budgetTokens, reasoning.effort, room),
  });
  return { parser, constraint };
}

function callableTools(job: GenerateJob): readonly ToolDefinition[] {
  const { toolChoice, tools } = job;
  if (toolChoice.mode === 'none') return [];
  return toolChoice.mode === 'named' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
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
  const turns = [{ role: 'user', content: 'x' }] as const;
  const end = probeTemplate(writer, { turns, tools, variables }).trimEnd();
  const opened = end.endsWith(marks.open);
  if (job.reasoning.enabled === false) {
    // A template without a switch: an empty thought says the same.
    return opened ? { place: { at: 'nowhere' }, prefill: `\n${marks.close}\n\n` } : NO_THINKING;
  }
  if (end.endsWith(marks.close)) return NO_THINKING;
  return { place: { at: opened ? 'open' : 'choice', marks }, prefill: '' };
}

function bodyReader(request: AnswerGrammarRequest): BodyReader {
  const shaped = request.format.kind !== 'text';
  if (request.tools.length === 0) return textBody(shaped);
  return request.family === null ? new EnvelopeBody() : new FamilyBody(request.family, shaped);
}
