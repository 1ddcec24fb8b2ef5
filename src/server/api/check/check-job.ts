import type { GenerateJob } from '../../../contract/job.ts';

export const CASE_TOKENS = 96;

export function checkJob(
  jobId: string,
  fields: Pick<GenerateJob, 'prompt'> & Partial<GenerateJob>,
): GenerateJob {
  return {
    kind: 'generate',
    jobId,
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: { enabled: false },
    sampling: { temperature: 0 },
    adapters: [],
    maxTokens: CASE_TOKENS,
    numCtx: null,
    stop: [],
    topLogprobs: null,
    templateClockMs: null,
    lane: 'shared',
    ...fields,
  };
}
