import type { GenerateJob, Prompt, Turn } from '../../../contract/job.ts';
import { fail } from '../../../lib/errors/svc-error.ts';

export function begunPrompt(
  turns: readonly Turn[],
  { toolChoice, format }: Pick<GenerateJob, 'toolChoice' | 'format'>,
): Prompt {
  const last = turns.at(-1);
  if (last?.role !== 'assistant')
    throw refusal('must end with one of the assistant where continue_final_message is true');
  if ((last.toolCalls ?? []).length > 0)
    throw refusal('must not end with a call of a tool that is to be continued; send the result of the call');
  if (format.kind !== 'text')
    throw refusal('must not end with a begun answer where its whole form is asked for');
  if (toolChoice.mode === 'required' || toolChoice.mode === 'named')
    throw refusal('must not end with a begun answer where a tool must be called');
  const isEmpty = last.content === '' && (last.reasoning ?? '') === '';
  // An empty prefill is dropped, so the model starts the answer.
  if (isEmpty) return { kind: 'chat', turns: turns.slice(0, -1) };
  return { kind: 'chat', turns: [...turns], continues: true };
}

const refusal = (what: string): Error =>
  fail('invalid_request', { param: 'messages', message: `messages ${what}.` });
