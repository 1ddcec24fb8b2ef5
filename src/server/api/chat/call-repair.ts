import { randomUUID } from 'node:crypto';
import type { Usage } from '../../../contract/job-event.ts';
import type { GenerateJob, Turn } from '../../../contract/job.ts';

export interface FailedCall {
  readonly name: string;
  readonly argumentsJson: string;
  readonly problem: string;
}

/** The failed call is sent back as if it had been made, with the problem as its result. */
const REPAIR_CALL_ID = 'call000000';
const MAX_PROBLEM = 400;

type ChatJob = GenerateJob & { readonly prompt: Extract<GenerateJob['prompt'], { kind: 'chat' }> };

export function isRepairable(job: GenerateJob): job is ChatJob {
  return job.prompt.kind === 'chat' && job.lane === 'shared';
}

export function tokensLeft({ maxTokens }: GenerateJob, used: Usage): number | null {
  return maxTokens === null ? null : Math.max(0, maxTokens - used.completionTokens);
}

export function repairJob(job: ChatJob, call: FailedCall, used: Usage): GenerateJob {
  const { prompt, scoredPrompt: _, ...rest } = job;
  const { name, argumentsJson, problem } = call;
  const turns: Turn[] = [
    ...prompt.turns,
    { role: 'assistant', content: '', toolCalls: [{ id: REPAIR_CALL_ID, name, argumentsJson }] },
    {
      role: 'tool',
      name,
      toolCallId: REPAIR_CALL_ID,
      content: `Not run: the arguments are invalid: ${problem.slice(0, MAX_PROBLEM)}. Call ${name} again with valid arguments.`,
    },
  ];
  return {
    ...rest,
    jobId: `${job.jobId}.${randomUUID()}`,
    prompt: { kind: 'chat', turns },
    toolChoice: { mode: 'named', name },
    format: { kind: 'text' },
    reasoning: { ...job.reasoning, enabled: false },
    maxTokens: tokensLeft(job, used),
    maxCalls: 1,
    topLogprobs: null,
  };
}

export interface RefusedCall {
  readonly name: string;
  readonly argumentsJson: string;
  readonly said: string;
  readonly times: number;
}

export function otherwiseJob(job: ChatJob, call: RefusedCall, used: Usage, mayCall: boolean): GenerateJob {
  const { name, argumentsJson, said, times } = call;
  const { scoredPrompt: _, ...rest } = job;
  const advice = mayCall ? 'Use that result, do something else, or answer the user.' : 'Answer the user now.';
  const turns: Turn[] = [
    ...job.prompt.turns,
    { role: 'assistant', content: said, toolCalls: [{ id: REPAIR_CALL_ID, name, argumentsJson }] },
    {
      role: 'tool',
      name,
      toolCallId: REPAIR_CALL_ID,
      content: `Not run: this call with the same arguments has given the same result ${times} times. ${advice}`,
    },
  ];
  return {
    ...rest,
    jobId: `${job.jobId}.${randomUUID()}`,
    prompt: { kind: 'chat', turns },
    toolChoice: mayCall ? job.toolChoice : { mode: 'none' },
    maxTokens: tokensLeft(job, used),
  };
}

/** The prompt counts once, as sent; the answers of both attempts add up. */
export function addedUsage(first: Usage, second: Usage): Usage {
  return {
    ...first,
    completionTokens: first.completionTokens + second.completionTokens,
    reasoningTokens: first.reasoningTokens + second.reasoningTokens,
  };
}
