/**
 * The grammar of calls in a model's own syntax. White space around marks is optional, as models are not exact in it;
 * everything else is exactly the format, and arguments follow their schemas.
 */
import type { ToolDefinition } from '../../../contract/job.ts';
import { MOST_CALLS } from '../../../contract/limits.ts';
import type { GbnfWriter } from '../../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';
import { schemaRule } from '../../../../packages/schema-grammar/src/schema-grammar.ts';
import type {
  CallFormat,
  ToolFormat,
  Words,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { callOpenings } from './openings.ts';
import { taggedRule } from './tagged-grammar.ts';
import type { UnheldKeywords } from './unheld-keywords.ts';
import { wordsGbnf } from './words-grammar.ts';

export interface CallsRequest {
  readonly tools: readonly ToolDefinition[];
  readonly maxCalls: number;
  readonly unheld: UnheldKeywords;
}

export function callRules(
  writer: GbnfWriter,
  format: ToolFormat,
  request: CallsRequest,
): { readonly mark: string; readonly tail: string }[] {
  const more = moreCalls(writer, format, request);
  return callOpenings(format).map(({ mark, lead }) => {
    const first = request.tools.map((_, index) => callText(writer, format, lead, { request, index }));
    return { mark, tail: writer.rule(`${writer.rule(first.join(' | '))} ${more}`) };
  });
}

function moreCalls(writer: GbnfWriter, format: CallFormat, request: CallsRequest): string {
  const { tools, maxCalls } = request;
  const { section, call } = format;
  const close = `${wordsGbnf([section.close])} [ \\n]{0,2}`;
  const most = format.several ? maxCalls : 1;
  if (most === 1) return close;
  const calls = tools.map((_, index) => callText(writer, format, call.before, { request, index }));
  const next = writer.rule(`${wordsGbnf([section.between])} ${writer.rule(calls.join(' | '))}`);
  return `${next}${most >= MOST_CALLS ? '*' : `{0,${most - 1}}`} ${close}`;
}

function callText(
  writer: GbnfWriter,
  format: CallFormat,
  before: Words,
  { request, index }: { readonly request: CallsRequest; readonly index: number },
): string {
  const { name, parameters } = request.tools[index] as ToolDefinition;
  const path = `tools[${index}].function.parameters`;
  const form = format.arguments;
  const args =
    form.kind === 'json'
      ? schemaRule(writer.nested({ spacing: form.spacing }), parameters, path)
      : taggedRule(writer, form, parameters, { path, unheld: request.unheld.of(name, parameters) });
  return `${wordsGbnf(before, name)} ${args} ${wordsGbnf(format.call.after, name)}`;
}
