/**
 * api/intake owns the translation of a request's conversation, tools and formats into the words of the engine, and the
 * check of answers against them. It knows no model, no engine and no HTTP.
 */
import { fail } from '../../lib/errors/svc-error.ts';
import { SchemaBudget } from '../../lib/grammar/schema-budget.ts';
import { readAnswerFormat } from './answer-format.ts';
import { idleThinkingFields, readThinking } from './thinking.ts';
import { readToolChoice, readTools } from './tools.ts';
import { readTurns } from './turns.ts';
import type { ChatRequest } from '../../wire/inference/chat.ts';
import type { JobContent } from '../generation/choices.ts';

export function readContent(body: ChatRequest): JobContent {
  const budget = new SchemaBudget();
  const tools = readTools(body.tools, budget);
  const toolChoice = readToolChoice(body.tool_choice, tools);
  const format = readAnswerFormat(body, budget);
  if (format.kind === 'grammar' && toolChoice.mode !== 'none')
    throw fail('invalid_request', {
      param: 'grammar',
      message: 'A grammar cannot be combined with tools; drop one of them, or set tool_choice to "none".',
    });
  return {
    prompt: { kind: 'chat', turns: readTurns(body.messages) },
    tools,
    toolChoice,
    format,
    reasoning: readThinking(body),
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : null,
  };
}

/** Fields that are known but change nothing in this request. */
export function idleFields(body: ChatRequest, canThink: boolean): string[] {
  const hasTools = (body.tools ?? []).length > 0;
  return [
    ...idleThinkingFields(body, canThink),
    // At most one call is made, whatever was allowed.
    ...(body.parallel_tool_calls === true ? ['parallel_tool_calls'] : []),
    ...(isGiven(body.tool_choice) && !hasTools ? ['tool_choice'] : []),
    ...(isGiven(body.top_logprobs) && body.logprobs !== true ? ['top_logprobs'] : []),
  ];
}

/** Tools in OpenAI's own form say that the sender reads OpenAI's words. */
export function speaksOpenAi(body: ChatRequest): boolean {
  return (body.tools ?? []).some((tool) => isGiven(tool) && Reflect.get(Object(tool), 'type') === 'function');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
