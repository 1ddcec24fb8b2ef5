/**
 * Plans the answer to one job: its prompt's form, the sampling constraint, and the parser of its tokens.
 *   1. how tools are shown: in the syntax of the template, or as envelopes in the system turn
 *   2. where thinking may be, which the rendered end of the prompt shows
 *   3. one grammar for the whole answer, if it is constrained
 *   4. once the prompt is known: the parser of the answer, and the constraint
 */
import type { UnheldKeyword } from '../../contract/job-event.ts';
import type { GenerateJob, ToolDefinition, Turn } from '../../contract/job.ts';
import { toolsText } from '../../contract/job-tools.ts';
import { memoizeByObject } from '../../lib/base/memoize-by-object.ts';
import { RecentTexts } from '../../lib/base/recent-texts.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { ModelFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { NativeModel } from '../native.ts';
import { modelFormat } from '../prompt/model-format.ts';
import type { ChatTemplate } from '../prompt/template.ts';
import { type PrefillPart, probeTemplate, type PromptWriter } from '../prompt/prompt.ts';
import type { Answer } from './answer.ts';
import { type AnswerGrammarRequest, plannedGrammar, type ThinkingPlace } from './answer-grammar.ts';
import { AnswerReader } from './answer-reader.ts';
import { EnvelopeBody, textBody } from './body-readers.ts';
import type { BodyReader } from './calls/body.ts';
import { FormatBody } from './calls/format-body.ts';
import { AnswerConstraint } from './constraint.ts';

interface AnswerModel {
  readonly writer: PromptWriter;
  readonly model: Pick<NativeModel, 'newGrammar'>;
}

export interface AnswerPlan {
  readonly toolFormat: string;
  readonly model: ModelFormat;
  readonly tools: readonly ToolDefinition[];
  readonly templateVariables: Readonly<Record<string, unknown>>;
  readonly prefill: readonly PrefillPart[];
  readonly reasoning: GenerateJob['reasoning'];
  readonly grammarRequest: AnswerGrammarRequest;
  readonly gbnf: string | null;
  readonly unheld: readonly UnheldKeyword[];
}

export function planAnswer(job: GenerateJob, writer: PromptWriter): AnswerPlan {
  const isChat = job.prompt.kind === 'chat';
  const model = modelFormat(writer);
  const tools = isChat ? callableTools(job) : [];
  const shownTools = model.tools === null ? [] : tools;
  const templateVariables = isChat ? planVariables(job, { writer, model, tools: shownTools }) : {};
  const start = isChat
    ? planStart({ job, writer, model, variables: templateVariables, tools: shownTools })
    : NOT_CHAT;
  const grammarRequest: AnswerGrammarRequest = {
    format: job.format,
    tools,
    choice: job.toolChoice,
    maxCalls: job.maxCalls ?? 1,
    model: isChat ? model : BARE,
    inContent: start.inContent,
    thinking: start.thinking,
  };
  return {
    toolFormat: model.tools?.name ?? 'envelope',
    model,
    tools,
    templateVariables,
    prefill: start.prefill,
    reasoning: start.endsThinking === true ? { ...job.reasoning, budgetTokens: 0 } : job.reasoning,
    grammarRequest,
    ...plannedGrammar(grammarRequest),
  };
}

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

/** Efforts that some templates treat as no thinking, if they have no switch. */
const LEAST_EFFORTS = ['none', 'minimal'] as const;

function planVariables(
  job: GenerateJob,
  { writer, model, tools }: Pick<StartRequest, 'writer' | 'model' | 'tools'>,
): Readonly<Record<string, unknown>> {
  const { source } = writer.template;
  const opening =
    job.prompt.kind === 'chat' && job.prompt.opens === false ? { add_generation_prompt: false } : {};
  const asked = (reasoning: GenerateJob['reasoning']) => ({
    ...thinkingVariables(source, reasoning),
    ...opening,
  });
  const variables = asked(job.reasoning);
  const { enabled, effort } = job.reasoning;
  const marks = model.thinking;
  if (enabled !== false || effort !== undefined || marks === null) return variables;
  const isOff = (tried: Readonly<Record<string, unknown>>): boolean =>
    endsThought(renderOpening(writer, { tools, variables: tried }), marks);
  if (isOff(variables)) return variables;
  const least = LEAST_EFFORTS.map((each) => asked({ ...job.reasoning, effort: each }));
  return least.find((tried) => 'reasoning_effort' in tried && isOff(tried)) ?? variables;
}

function callableTools(job: GenerateJob): readonly ToolDefinition[] {
  const { toolChoice, tools } = job;
  if (toolChoice.mode === 'none') return [];
  return toolChoice.mode === 'named' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
}

interface AnswerStart {
  readonly thinking: ThinkingPlace;
  /** Thinking is off: a thought that the model begins anyway is ended at once. */
  readonly endsThinking?: boolean;
  readonly inContent: boolean;
  readonly prefill: readonly PrefillPart[];
}

const NOWHERE: ThinkingPlace = { at: 'nowhere' };
const NOT_CHAT: AnswerStart = { thinking: NOWHERE, inContent: false, prefill: [] };

const BARE: ModelFormat = {
  tools: null,
  channels: null,
  thinking: null,
  content: null,
  history: { calls: 'template', arguments: 'object', emptyContent: 'empty', ids: 'any' },
  restart: '',
  toolsVariable: { name: 'tools', as: 'list' },
  evidence: [],
};

interface StartRequest {
  readonly job: GenerateJob;
  readonly writer: PromptWriter;
  readonly model: ModelFormat;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly tools: readonly ToolDefinition[];
}

/**
 * Text that a client has begun follows thinking: the client's thinking if given, else none. Thinking alone continues
 * as thinking.
 */
function planStart(request: StartRequest): AnswerStart {
  const { prompt } = request.job;
  const start = openedStart(request);
  const begun = prompt.kind === 'chat' && prompt.continues === true ? prompt.turns.at(-1) : undefined;
  if (begun === undefined) return start;
  const { model, job } = request;
  if (model.channels !== null) throw notBegun('the model writes each answer in channels');
  if (callableTools(job).length > 0 && model.tools === null)
    throw notBegun('the model has no syntax of its own for tools');
  return begunStart(start, begun, model);
}

const notBegun = (reason: string): Error =>
  fail('invalid_request', {
    message: `This answer cannot be begun for the model, because ${reason}; end with a message of the user.`,
    param: 'messages',
  });

function begunStart(
  { thinking, inContent, prefill }: AnswerStart,
  { content, reasoning = '' }: Turn,
  { content: marks }: ModelFormat,
): AnswerStart {
  const parts = [...prefill];
  if (thinking.at !== 'nowhere') {
    const { open, close } = thinking.marks;
    if (reasoning !== '' && thinking.at === 'choice') parts.push(own(`${open}\n`));
    if (reasoning !== '') parts.push(clients(reasoning));
    if (reasoning !== '' && content === '')
      return { thinking: { at: 'open', marks: thinking.marks }, inContent, prefill: parts };
    if (reasoning !== '' || thinking.at === 'open') parts.push(own(`\n${close}\n\n`));
  }
  if (marks !== null && !inContent && marks.open !== '') parts.push(own(marks.open));
  parts.push(clients(content));
  return { thinking: NOWHERE, inContent: inContent || marks !== null, prefill: parts };
}

const own = (text: string): PrefillPart => ({ text, isOwn: true });
const clients = (text: string): PrefillPart => ({ text, isOwn: false });

function openedStart({ job, writer, model, variables, tools }: StartRequest): AnswerStart {
  const { thinking: marks, content } = model;
  if (marks === null && content === null) return NOT_CHAT;
  const end = renderOpening(writer, { tools, variables });
  const inContent = content !== null && content.open !== '' && end.endsWith(content.open.trimEnd());
  const nowhere = { thinking: NOWHERE, inContent, prefill: [] };
  if (marks === null || inContent) return nowhere;
  const opened = end.endsWith(marks.open);
  if (endsThought(end, marks)) return nowhere;
  if (job.reasoning.enabled === false) {
    // A template without a switch: an empty thought has the same effect.
    if (opened) return { ...nowhere, prefill: [own(`\n${marks.close}\n\n`)] };
    // A grammar of the whole answer has no place for a thought; records are replayed unchanged.
    if (job.format.kind !== 'text' || job.lane !== 'shared') return nowhere;
    return { ...nowhere, thinking: { at: 'choice', marks }, endsThinking: true };
  }
  return { ...nowhere, thinking: { at: opened ? 'open' : 'choice', marks } };
}

function endsThought(opening: string, { open, close }: NonNullable<ModelFormat['thinking']>): boolean {
  const begun = opening.lastIndexOf(open);
  return (
    opening.endsWith(close) ||
    (begun >= 0 &&
      opening
        .slice(begun + open.length)
        .trimStart()
        .startsWith(close))
  );
}

const openingCache = memoizeByObject(
  (_template: ChatTemplate) => new RecentTexts<string>({ entries: 64, chars: 2_000_000 }),
);

function renderOpening(writer: PromptWriter, asked: Pick<StartRequest, 'tools' | 'variables'>): string {
  return openingCache(writer.template).of(
    `${JSON.stringify(asked.variables)} ${toolsText(asked.tools)}`,
    () => {
      const turns = [{ role: 'user', content: QUESTION }] as const;
      const rendered = probeTemplate(writer, { turns, ...asked });
      const at = rendered.lastIndexOf(QUESTION);
      // The text before the question may mention marks.
      const behind = at < 0 ? rendered : rendered.slice(at + QUESTION.length);
      return behind.slice(-LONGEST_OPENING).trimEnd();
    },
  );
}

const QUESTION = 'question 7401';

const LONGEST_OPENING = 4_096;

function bodyReader({ format, model, tools, maxCalls }: AnswerGrammarRequest): BodyReader {
  const shaped = format.kind !== 'text';
  const isPlain =
    tools.length === 0 && model.content === null && model.channels === null && model.restart === '';
  if (isPlain) return textBody(shaped);
  if (tools.length > 0 && model.tools === null) return new EnvelopeBody();
  return new FormatBody({ format: model, tools, maxCalls, shaped });
}

interface ThinkingSwitches {
  readonly enabled?: boolean | undefined;
  readonly effort?: string | undefined;
}

export function thinkingVariables(template: string, switches: ThinkingSwitches): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  const { enabled, effort } = switches;
  for (const name of ['enable_thinking', 'thinking'] as const)
    if (enabled !== undefined && readsVariable(template, name)) variables[name] = enabled;
  if (enabled !== undefined && readsVariable(template, 'thinking_mode'))
    variables['thinking_mode'] = enabled ? 'enabled' : 'disabled';
  if (effort !== undefined && readsVariable(template, 'reasoning_effort'))
    variables['reasoning_effort'] = effort;
  return variables;
}

const SHARE_OF_EFFORT: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.25, medium: 0.5 };
const DEFAULT_SHARE = 0.75;

function thinkingBudget(asked: number | undefined, effort: string | undefined, room: number): number {
  const most = Math.floor(room * DEFAULT_SHARE);
  if (asked !== undefined) return Math.min(asked, most);
  return Math.floor(room * (SHARE_OF_EFFORT[effort ?? ''] ?? DEFAULT_SHARE));
}

/** Whether the name occurs in the template's code, outside its text and strings. */
function readsVariable(template: string, name: string): boolean {
  // In the text up to the last block, each block that opens is closed.
  const end = Math.max(template.lastIndexOf('%}'), template.lastIndexOf('}}'));
  const code = template.slice(0, end + 2).match(/\{[%{][\s\S]*?[%}]\}/g) ?? [];
  const word = new RegExp(`(?<![\\w.'"])${name}(?!\\w)`);
  return code.some((block) => word.test(block));
}
