/** Which fields of a chat request change nothing. */
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

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
