/**
 * The grammar of a whole answer: thinking, text, a tool call, JSON, in the combinations that a job asks for.
 * Everything is one grammar from the first token on. Free text before a mark is spelled as "anything that does not
 * contain the mark", so there is no moment at which a constraint would have to be switched on in mid-token.
 */
import type { AnswerFormat, ToolChoice, ToolDefinition } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { checkClientGbnf, checkGbnf, renameRoot } from '../../lib/grammar/gbnf/gbnf-check.ts';
import { gbnfClassChar, gbnfLiteral, GbnfWriter } from '../../lib/grammar/gbnf/gbnf-writer.ts';
import { anyObject } from '../../lib/grammar/json-grammar.ts';
import { schemaRule } from '../../lib/grammar/schema-grammar.ts';
import { anyChar } from '../../lib/grammar/string-grammar.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN, TEXT_CLOSE, TEXT_OPEN } from '../prompt/envelope.ts';
import type { ThinkingMarks } from '../../lib/chat-template/thinking-marks.ts';
import type { ToolFamily } from '../../lib/chat-template/tool-families.ts';

export interface AnswerGrammarRequest {
  readonly format: AnswerFormat;
  /** The tools that may be called now; empty when none may. */
  readonly tools: readonly ToolDefinition[];
  readonly choice: ToolChoice;
  /** Null: the envelope. */
  readonly family: ToolFamily | null;
  readonly thinking: ThinkingPlace;
}

/** Where thinking may stand before the answer: nowhere, at the model's choice, or already open in the prompt. */
export type ThinkingPlace =
  | { readonly at: 'nowhere' }
  | { readonly at: 'choice' | 'open'; readonly marks: ThinkingMarks };

/** GBNF of the answer, or null when the model may say anything. */
export function answerGrammar(request: AnswerGrammarRequest): string | null {
  const writer = new GbnfWriter({
    prefix: 'svc-',
    spacing: request.family?.spacing ?? 'compact',
    // What the answer's own schema may not leave out was refused before; the finished answer is checked.
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
  const answer = request.tools.length === 0 ? content() : toolAnswer(writer, request, content);
  if (answer === null) return null;
  const gbnf = writer.toGbnf(withThinking(writer, answer, request.thinking)) + foreign;
  checkGbnf(gbnf);
  return gbnf;
}

function toolAnswer(writer: GbnfWriter, request: AnswerGrammarRequest, content: () => string | null): string {
  const { family, format } = request;
  const { open, tail } = callOf(writer, request.tools, family);
  const call = writer.rule(`${gbnfLiteral(open)} ${tail}`);
  if (request.choice.mode === 'required' || request.choice.mode === 'named') return call;
  if (family === null) return writer.rule(`${call} | ${envelopeText(writer, format)}`);
  const shaped = content();
  if (shaped !== null) return writer.rule(`${call} | ${shaped}`);
  if (family.atStart) return writer.rule(`${call} | ${textNotBeginningWith(writer, open)}`);
  return textUntil(writer, open, tail, true);
}

/** A call of one of the tools: the mark that opens it, and the rule of what follows the mark. */
function callOf(writer: GbnfWriter, tools: readonly ToolDefinition[], family: ToolFamily | null) {
  const words = family ?? {
    open: CALL_OPEN,
    beforeName: '',
    beforeArguments: CALL_BETWEEN,
    close: CALL_CLOSE,
  };
  const calls = tools.map(({ name, parameters }, index) => {
    const rule = schemaRule(writer, parameters, `tools[${index}].function.parameters`);
    const close = words.close === '' ? '' : ` ${gbnfLiteral(words.close)}`;
    return `${gbnfLiteral(words.beforeName + name + words.beforeArguments)} ${rule}${close}`;
  });
  return { open: words.open, tail: writer.rule(calls.join(' | ')) };
}

/** The text form; text that must be JSON itself is written as JSON inside the JSON string. */
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

function withThinking(writer: GbnfWriter, answer: string, thinking: ThinkingPlace): string {
  if (thinking.at === 'nowhere') return answer;
  const { open, close } = thinking.marks;
  const thoughts = textUntil(writer, close, `[ \\n]{0,4} ${answer}`, false);
  if (thinking.at === 'open') return thoughts;
  return writer.rule(`${answer} | [ \\n]{0,2} ${gbnfLiteral(open)} ${thoughts}`);
}

/**
 * Any text that does not contain the mark, then the mark and `rest`. The rules are the states of the matching
 * automaton of Knuth, Morris and Pratt: state n has read the first n characters of the mark.
 */
function textUntil(writer: GbnfWriter, mark: string, rest: string, mayEnd: boolean): string {
  const chars = [...mark];
  const states = chars.map(() => writer.reserve());
  const alphabet = [...new Set(chars)];
  for (const [matched, state] of states.entries()) {
    const steps = alphabet.map(
      (char) => `${gbnfLiteral(char)} ${states[nextState(chars, matched, char)] ?? rest}`,
    );
    writer.define(
      state,
      [`${classExcept(alphabet)} ${states[0]}`, ...steps, ...(mayEnd ? ['""'] : [])].join(' | '),
    );
  }
  return states[0] ?? rest;
}

function nextState(mark: readonly string[], matched: number, char: string): number {
  for (let length = matched; ; length = longestBorder(mark, length)) {
    if (mark[length] === char) return length + 1;
    if (length === 0) return 0;
  }
}

/** The longest proper prefix of the mark that also ends its first `length` characters. */
function longestBorder(mark: readonly string[], length: number): number {
  for (let border = length - 1; border > 0; border -= 1)
    if (mark.slice(0, border).every((char, index) => char === mark[length - border + index])) return border;
  return 0;
}

function textNotBeginningWith(writer: GbnfWriter, mark: string): string {
  return [...mark].reduceRight((longer, char) => {
    const step = longer === '' ? [] : [`${gbnfLiteral(char)} ${longer}`];
    return writer.rule(['""', `${classExcept([char])} .*`, ...step].join(' | '));
  }, '');
}

function classExcept(chars: readonly string[]): string {
  return `[^${chars.map((char) => gbnfClassChar(char.codePointAt(0) ?? 0)).join('')}]`;
}
