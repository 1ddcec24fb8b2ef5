/** What the fields of a chat request besides its content tell: which change nothing, and how its sender speaks. */
import type { ChatRequest } from '../../../wire/inference/chat.ts';
import { idleThinkingFields } from '../../intake/thinking.ts';

type Fields = Omit<ChatRequest, 'messages'>;

/** Fields that are known but change nothing in this request. */
export function idleFields(body: Fields, canThink: boolean): string[] {
  const hasTools = (body.tools ?? []).length > 0;
  return [
    ...idleThinkingFields(body, canThink),
    ...(isGiven(body.parallel_tool_calls) && !hasTools ? ['parallel_tool_calls'] : []),
    ...(isGiven(body.tool_choice) && !hasTools ? ['tool_choice'] : []),
    ...(isGiven(body.top_logprobs) && body.logprobs !== true ? ['top_logprobs'] : []),
  ];
}

/** Tools in OpenAI's own form say that the sender reads OpenAI's words. */
export function speaksOpenAi(body: Fields): boolean {
  return (body.tools ?? []).some((tool) => isGiven(tool) && Reflect.get(Object(tool), 'type') === 'function');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
