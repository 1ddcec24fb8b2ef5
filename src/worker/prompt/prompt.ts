/**
 * worker/prompt owns the way from a conversation to the tokens of a prompt: template, guarded client text, tokeniser.
 * It knows nothing of answers, batches or the native library.
 */
import type { ToolDefinition } from '../../contract/job.ts';
import { memoizeByObject } from '../../lib/base/memoize-by-object.ts';
import { fail, isSvcError, errorReason } from '../../lib/errors/svc-error.ts';
import { parseSpelled } from '../../lib/json/parse-spelled.ts';
import { spelled, writeJson } from '../../lib/json/spelled-numbers.ts';
import type { FormatChoice } from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import type { GivenFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { ToolsVariable } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { type CallStyle, USUAL_STYLE } from './history.ts';
import { OwnWords } from '../../../packages/chat-templates/src/jinja/values/convert.ts';
import { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';
import { type Folded, foldTurns } from './folding/fold-turns.ts';
import { type PromptTurn, toText } from './folding/prompt-turn.ts';
import { type Guard, type PromptPiece, withoutMark } from './guard.ts';
import { plainTool } from './plain-tool.ts';
import { joinTokens, type PromptTokens } from './prompt-tokens.ts';
import { strftime } from '../../../packages/chat-templates/src/strftime.ts';
import type { ChatTemplate } from './template.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Beginning of an answer; `isOwn`: the template's own words, marks included. */
export interface PrefillPart {
  readonly text: string;
  readonly isOwn: boolean;
}

export interface ChatPrompt {
  readonly turns: readonly PromptTurn[];
  readonly tools: readonly ToolDefinition[];
  /** Further variables of the template; texts in them count as a client's. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly prefill: readonly PrefillPart[];
  readonly clockMs: number | null;
  readonly calls?: CallStyle;
  readonly toolsVariable?: ToolsVariable;
  /** Marks that the rendered prompt must contain, because images replace them. */
  readonly marks?: readonly string[];
}

export interface PromptWriter {
  readonly template: ChatTemplate;
  readonly vocabulary: Vocabulary;
  readonly guard: Guard;
  readonly tokens: PromptTokens;
  readonly toolFormat?: FormatChoice | GivenFormat;
  /** Beginning of a tool in this template, if descriptions of tools could forge it. */
  readonly toolMark?: string | null;
  readonly tellsTools?: boolean;
}

export function renderPrompt(writer: PromptWriter, prompt: ChatPrompt): PromptPiece[] {
  return renderFolded(writer, prompt).pieces;
}

interface RenderedPrompt {
  readonly pieces: PromptPiece[];
  readonly folds: Folded['folds'];
  /** Text of the template before the first character of the client. */
  readonly opening: string;
}

export function renderFolded(writer: PromptWriter, prompt: ChatPrompt): RenderedPrompt {
  const { turns, folds } = foldPrompt(writer, prompt);
  const text = renderText(writer, { ...prompt, turns });
  return { pieces: writer.guard.pieces(text), folds, opening: text.string.slice(0, text.clientRuns[0]) };
}

/** The conversation in a form that the template accepts, with every word of it. */
export function foldPrompt(writer: PromptWriter, prompt: ChatPrompt): Folded {
  const asked = { ...prompt, prefill: [], marks: [] };
  return foldTurns(writer.template, asked, (skeleton) => renderForms(writer, skeleton).string);
}

export function renderText(writer: PromptWriter, prompt: ChatPrompt): Text {
  try {
    return renderForms(writer, prompt);
  } catch (error) {
    if (!isSvcError(error) || !isAboutTools(writer, prompt)) throw error;
    throw fail('template_failed', { reason: errorReason(error), tools: true }, error);
  }
}

function renderForms(writer: PromptWriter, asked: ChatPrompt): Text {
  const prompt = { ...asked, tools: spelledTools(asked.tools) };
  try {
    const rendered = render(writer, prompt, {});
    return holdsMarks(rendered, prompt) ? rendered : renderParts(writer, prompt);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    for (const other of otherForms(prompt)) {
      try {
        return render(writer, other.prompt ?? prompt, other);
      } catch {
        // The first refusal concerns the conversation as sent, so it is the one to report.
      }
    }
    throw error;
  }
}

const holdsMarks = ({ string }: Text, { marks = [] }: ChatPrompt): boolean =>
  marks.every((mark) => string.includes(mark));

/** Templates of vision models may accept messages only as lists of parts. */
function renderParts(writer: PromptWriter, prompt: ChatPrompt): Text {
  const rendered = render(writer, prompt, { contentParts: true });
  if (!holdsMarks(rendered, prompt)) throw fail('template_failed', { reason: 'it leaves images out' });
  return rendered;
}

const spelledTools = memoizeByObject((tools: readonly ToolDefinition[]) => spelled(tools) as typeof tools);

function isAboutTools(writer: PromptWriter, prompt: ChatPrompt): boolean {
  if (prompt.tools.length === 0) return false;
  try {
    renderText(writer, { ...prompt, tools: [] });
    return true;
  } catch {
    return false;
  }
}

export function tokenizePieces(vocabulary: Vocabulary, pieces: readonly PromptPiece[]): Uint32Array {
  const runs = pieces.map(({ text, plain, continues }) =>
    continues ? vocabulary.tokenizeNext(text) : vocabulary.tokenize(text, !plain),
  );
  return joinTokens(vocabulary, runs);
}

export function pieceText(pieces: readonly PromptPiece[]): string {
  return pieces.map((piece) => piece.text).join('');
}

export function probeTemplate(
  writer: PromptWriter,
  probe: Pick<ChatPrompt, 'turns'> & Partial<ChatPrompt>,
): string {
  return renderText(writer, { tools: [], variables: {}, prefill: [], clockMs: 0, ...probe }).string;
}

interface Form {
  readonly prompt?: ChatPrompt;
  readonly textArguments?: boolean;
  readonly contentParts?: boolean;
  readonly tools?: 'left out' | 'an empty list';
}

function otherForms(prompt: ChatPrompt): Form[] {
  const forms: Form[] = [];
  if (prompt.turns.some(({ toolCalls }) => toolCalls !== undefined)) forms.push({ textArguments: true });
  if (prompt.tools.length === 0) forms.push({ tools: 'left out' }, { tools: 'an empty list' });
  if (prompt.tools.length === 0) return forms;
  const tools = prompt.tools.map(plainTool);
  const plain = [{}, ...forms].map((form: Form) => ({
    ...form,
    prompt: { ...(form.prompt ?? prompt), tools },
  }));
  return [...forms, ...plain];
}

function render({ template, vocabulary, toolMark }: PromptWriter, prompt: ChatPrompt, form: Form): Text {
  const { textArguments = false } = form;
  const tools = toolMark ? prompt.tools.map((tool) => withoutMark(tool, toolMark)) : prompt.tools;
  const rendered = template.render({
    ...surroundings(vocabulary, prompt.clockMs),
    messages: prompt.turns.map((turn) => {
      const message = messageVariable(turn, callStyle(prompt, textArguments));
      return form.contentParts === true ? inParts(message) : message;
    }),
    ...(form.tools === undefined ? toolsVariable(tools, prompt.toolsVariable) : {}),
    ...(form.tools === 'an empty list' ? listedTools([], prompt.toolsVariable) : {}),
    ...prompt.variables,
  });
  const begun = prompt.prefill.map(({ text, isOwn }) => (isOwn ? Text.own(text) : Text.client(text)));
  return Text.concat([rendered, ...begun]);
}

/** Variables of every template, as in transformers. */
export function surroundings(vocabulary: Vocabulary, clockMs: number | null): Record<string, unknown> {
  return {
    documents: null,
    add_generation_prompt: true,
    bos_token: new OwnWords(vocabulary.bosText),
    eos_token: new OwnWords(vocabulary.eosText),
    strftime_now: (format: string) => strftime(format, clockMs),
    // transformers does not define it, but Firefunction's template fails without it.
    datetime: new OwnWords(strftime('%b %d %Y', clockMs)),
  };
}

function callStyle({ calls = USUAL_STYLE }: ChatPrompt, textArguments: boolean): CallStyle {
  return textArguments ? { ...calls, arguments: 'text' } : calls;
}

function messageVariable(turn: PromptTurn, style: CallStyle): Record<string, unknown> {
  const { reasoning, toolCalls = [] } = turn;
  const written = toolCalls.length === 0 ? null : (style.write?.(toolCalls) ?? null);
  return {
    role: new OwnWords(turn.role),
    content: turnContent(turn, style, written),
    ...(reasoning === undefined ? {} : { thinking: reasoning, reasoning_content: reasoning }),
    ...(turn.name === undefined ? {} : { name: turn.name }),
    ...(turn.toolCallId === undefined ? {} : { tool_call_id: turn.toolCallId }),
    ...(turn.toolCalls === undefined || written !== null
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, argumentsJson }) => ({
            id,
            type: new OwnWords('function'),
            function: {
              name,
              arguments: style.arguments === 'text' ? argumentsJson : argumentsValue(argumentsJson),
            },
          })),
        }),
  };
}

function inParts({ content, ...message }: Record<string, unknown>): Record<string, unknown> {
  const parts = content === null || content === '' ? [] : [{ type: new OwnWords('text'), text: content }];
  return { ...message, content: parts };
}

function turnContent(
  { content, toolCalls = [] }: PromptTurn,
  style: CallStyle,
  written: Text | null,
): unknown {
  if (written !== null) return Text.concat([toText(content), written]);
  return content === '' && toolCalls.length > 0 && style.emptyContent === 'null' ? null : content;
}

/** Templates expect the arguments as data; text that is not a JSON object is passed on unchanged. */
function argumentsValue(json: string): unknown {
  try {
    const value = spelled(parseSpelled(json));
    return typeof value === 'object' && value !== null ? value : json;
  } catch {
    return json;
  }
}

const USUAL: ToolsVariable = { name: 'tools', as: 'list' };

function toolsVariable(
  tools: readonly ToolDefinition[],
  variable: ToolsVariable = USUAL,
): Record<string, unknown> {
  return tools.length === 0 ? { [USUAL.name]: null } : listedTools(tools, variable);
}

function listedTools(
  tools: readonly ToolDefinition[],
  { name, as }: ToolsVariable = USUAL,
): Record<string, unknown> {
  if (as === 'list') return { [name]: tools.map(listed) };
  return {
    [name]: writeJson(
      tools.map((tool) => ({ type: 'function', function: tool })),
      '    ',
    ),
  };
}

function listed({ name, description, parameters }: ToolDefinition): Record<string, unknown> {
  return { type: new OwnWords('function'), function: { name, description, parameters } };
}
