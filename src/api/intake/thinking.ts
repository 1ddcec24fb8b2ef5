/** The switches for thinking, from the several fields that clients use for them. */
import type { Reasoning } from '../../contract/job.ts';
import type { ChatRequest } from '../../wire/inference/chat.ts';

type ThinkingFields = Pick<
  ChatRequest,
  'reasoning_effort' | 'enable_thinking' | 'reasoning_budget' | 'chat_template_kwargs'
>;

export function readThinking(fields: ThinkingFields): Reasoning {
  const effort = fields.reasoning_effort ?? undefined;
  const asked = fields.enable_thinking ?? fields.chat_template_kwargs?.['enable_thinking'];
  const enabled = typeof asked === 'boolean' ? asked : effort === 'none' ? false : undefined;
  const budget = fields.reasoning_budget ?? undefined;
  return {
    ...(enabled === undefined ? {} : { enabled }),
    ...(effort === undefined || effort === 'none' ? {} : { effort }),
    ...(budget === undefined ? {} : { budgetTokens: tokenBudget(budget) }),
  };
}

/** No answer is longer; more would not fit the integers of engines. */
const MOST_BUDGET = 2 ** 31 - 1;

export const tokenBudget = (asked: number): number => Math.min(asked, MOST_BUDGET);
