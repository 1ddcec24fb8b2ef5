/**
 * The grammar of a whole answer: thinking, text, a tool call, JSON, in the combinations that a job needs. One grammar
 * applies from the first token on: free text before a mark is spelled as "anything that does not contain the mark",
 * so no constraint is ever switched on in mid-token.
 */
import type { UnheldKeyword } from '../../contract/job-event.ts';
import type { AnswerFormat, ToolChoice, ToolDefinition } from '../../contract/job.ts';
import { toolsText } from '../../contract/job-tools.ts';
import { RecentTexts } from '../../lib/base/recent-texts.ts';
import { orFailure } from '../../lib/errors/grammar-failure.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import {
  checkClientGbnf,
  checkGbnf,
  renameRoot,
} from '../../../packages/schema-grammar/src/gbnf/gbnf-check.ts';
import { gbnfLiteral, GbnfWriter } from '../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';
import { anyObject } from '../../../packages/schema-grammar/src/json-grammar.ts';
import { schemaRule } from '../../../packages/schema-grammar/src/schema-grammar.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';
import { anyChar } from '../../../packages/schema-grammar/src/string-grammar.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN, TEXT_CLOSE, TEXT_OPEN } from '../prompt/envelope.ts';
import type {
  ModelFormat,
  ThinkingMarks,
  ToolFormat,
} from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { callRules } from './calls/call-grammar.ts';
import { channelRule } from './calls/channel-grammar.ts';
import { textNotBeginningWith, textUntil } from './calls/free-text.ts';
import { UnheldKeywords } from './calls/unheld-keywords.ts';

export interface AnswerGrammarRequest {
  readonly format: AnswerFormat;
  readonly tools: readonly ToolDefinition[];
  readonly choice: ToolChoice;
  readonly model: ModelFormat;
  readonly maxCalls: number;
  readonly inContent: boolean;
  readonly thinking: ThinkingPlace;
}

export type ThinkingPlace =
  | { readonly at: 'nowhere' }
  | { readonly at: 'choice' | 'open'; readonly marks: ThinkingMarks };

interface PlannedGrammar {
  readonly gbnf: string | null;
  readonly unheld: readonly UnheldKeyword[];
}

const kept = new RecentTexts<PlannedGrammar>(
  { entries: 16, chars: 2_000_000 },
  ({ gbnf }) => gbnf?.length ?? 0,
);

export function answerGrammar(request: AnswerGrammarRequest): string | null {
  return plannedGrammar(request).gbnf;
}

/** Cached, because agents send the same tools with every turn. */
export function plannedGrammar(request: AnswerGrammarRequest): PlannedGrammar {
  const { tools, ...rest } = request;
  const key = `${writeJson(rest)} ${toolsText(tools)}`;
  return kept.of(key, () => {
    const unheld = new UnheldKeywords();
    return { gbnf: orFailure(() => madeGrammar(request, unheld)), unheld: unheld.list };
  });
}

function madeGrammar(request: AnswerGrammarRequest, unheld: UnheldKeywords): string | null {
  const writer = new GbnfWriter({
    prefix: 'svc-',
    spacing: callSpacing(request.model.tools),
    // Keywords that may not be relaxed were refused before; the finished answer is checked.
    relax: true,
  });
  let foreign = '';
  const content = (): string | null => {
    const { format } = request;
    switch (format.kind) {
      case 'text':
        return null;
      case 'json_object':
        return anyObject(writer);
      case 'json_schema':
        return schemaRule(writer, format.schema, 'schema');
      case 'grammar':
        foreign = `${renameRoot(format.gbnf, checkClientGbnf(format.gbnf), 'svc-root')}\n`;
        return 'svc-root';
      default:
        return format satisfies never;
    }
  };
  const body = bodyRule(writer, request, { content, unheld });
  if (body === null) return null;
  const gbnf = writer.toGbnf(withThinking(writer, body, request)) + foreign;
  checkGbnf(gbnf);
  return gbnf;
}

function callSpacing(tools: ToolFormat | null): 'compact' | 'spaced' {
  if (tools === null) return 'compact';
  return tools.arguments.kind === 'json' ? tools.arguments.spacing : 'spaced';
}

function bodyRule(
  writer: GbnfWriter,
  request: AnswerGrammarRequest,
  { content, unheld }: { readonly content: () => string | null; readonly unheld: UnheldKeywords },
): string | null {
  const { model, tools } = request;
  const isNative = model.tools !== null;
  if (tools.length > 0 && !isNative) return envelopeAnswer(writer, request);
  const shaped = content();
  if (tools.length === 0 && shaped === null) return null;
  if (model.channels !== null && model.tools !== null) {
    const { maxCalls } = request;
    const required = isRequired(request);
    return channelRule(writer, {
      channels: model.channels,
      format: model.tools,
      tools,
      maxCalls,
      unheld,
      required,
      shaped,
    });
  }
  const restart = model.restart === '' ? '' : `(${gbnfLiteral(model.restart)})? `;
  const words = shaped === null ? null : `${restart}${wrapped(request, shaped)}`;
  return tools.length === 0 ? words : nativeAnswer(writer, { ...request, unheld }, words, restart);
}

function wrapped({ model, inContent }: AnswerGrammarRequest, shaped: string): string {
  if (model.content === null) return shaped;
  const { open, close, always } = model.content;
  const opening = inContent ? '' : always ? `${gbnfLiteral(open)} ` : `(${gbnfLiteral(open)})? `;
  return `${opening}${shaped}${close === '' ? '' : ` (${gbnfLiteral(close)})?`}`;
}

function isRequired({ choice }: AnswerGrammarRequest): boolean {
  return choice.mode === 'required' || choice.mode === 'named';
}

function nativeAnswer(
  writer: GbnfWriter,
  request: AnswerGrammarRequest & { readonly unheld: UnheldKeywords },
  words: string | null,
  restart: string,
): string {
  const { model, tools, maxCalls, unheld } = request;
  if (model.tools === null) throw new Error('the model has no tool format of its own');
  const calls = callRules(writer, model.tools, { tools, maxCalls, unheld });
  const whole = calls.map(({ mark, tail }) => `${restart}${gbnfLiteral(mark)} ${tail}`);
  if (isRequired(request)) return writer.rule(whole.join(' | '));
  if (words !== null) return writer.rule([...whole, words].join(' | '));
  const [first] = calls;
  if (first === undefined) throw new Error('a tool format has no opening');
  if (model.tools.atStart) {
    const marks = calls.map(({ mark }) => mark);
    return writer.rule([...whole, textNotBeginningWith(writer, marks)].join(' | '));
  }
  return textUntil(writer, first.mark, first.tail, true);
}

function envelopeAnswer(writer: GbnfWriter, request: AnswerGrammarRequest): string {
  const calls = request.tools.map(({ name, parameters }, index) => {
    const rule = schemaRule(writer, parameters, `tools[${index}].function.parameters`);
    return `${gbnfLiteral(name + CALL_BETWEEN)} ${rule} ${gbnfLiteral(CALL_CLOSE)}`;
  });
  const call = writer.rule(`${gbnfLiteral(CALL_OPEN)} ${writer.rule(calls.join(' | '))}`);
  return isRequired(request) ? call : writer.rule(`${call} | ${envelopeText(writer, request.format)}`);
}

/** Text inside an envelope; text that must be JSON itself is written as JSON inside the JSON string. */
function envelopeText(writer: GbnfWriter, format: AnswerFormat): string {
  const inner = innerText(writer, format);
  return writer.rule(`${gbnfLiteral(TEXT_OPEN)} ${inner} ${gbnfLiteral(TEXT_CLOSE)}`);
}

function innerText(writer: GbnfWriter, format: AnswerFormat): string {
  const quoted = writer.nested({ quoted: true });
  switch (format.kind) {
    case 'text':
      return `${anyChar(writer)}*`;
    case 'json_object':
      return anyObject(quoted);
    case 'json_schema':
      return schemaRule(quoted, format.schema, 'schema');
    case 'grammar':
      throw fail('invalid_request', {
        param: 'grammar',
        message:
          'A grammar cannot be combined with tools on this model; drop one, or set tool_choice to "none".',
      });
    default:
      return format satisfies never;
  }
}

function withThinking(writer: GbnfWriter, answer: string, { thinking }: AnswerGrammarRequest): string {
  if (thinking.at === 'nowhere') return answer;
  const { open, close } = thinking.marks;
  const thoughts = textUntil(writer, close, `[ \\n]{0,4} ${answer}`, false);
  if (thinking.at === 'open') return thoughts;
  return writer.rule(`${answer} | [ \\n]{0,2} ${gbnfLiteral(open)} ${thoughts}`);
}
