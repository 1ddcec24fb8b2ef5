/** The jobs and loads of all tests, from whose usual members a test names only those that it is about. */
import type { EmbedJob, ExplainJob, GenerateJob, RankJob } from '../../../src/contract/job.ts';
import type { LoadSpec } from '../../../src/contract/load.ts';

let jobs = 0;

export function newJobId(): string {
  jobs += 1;
  return `job-${jobs}`;
}

/** A greedy chat. */
export function generateJob(fields: Partial<GenerateJob> = {}): GenerateJob {
  return {
    kind: 'generate',
    jobId: newJobId(),
    prompt: { kind: 'chat', turns: [{ role: 'user', content: 'hi' }] },
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: {},
    sampling: { temperature: 0 },
    adapters: [],
    maxTokens: 16,
    numCtx: null,
    stop: [],
    topLogprobs: null,
    templateClockMs: null,
    lane: 'shared',
    ...fields,
  };
}

export function embedJob(fields: Pick<EmbedJob, 'inputs'> & Partial<EmbedJob>): EmbedJob {
  return { kind: 'embed', jobId: newJobId(), truncate: false, ...fields };
}

export function rankJob(fields: Pick<RankJob, 'query' | 'documents'> & Partial<RankJob>): RankJob {
  return { kind: 'rank', jobId: newJobId(), truncate: false, ...fields };
}

export function explainJob(fields: Partial<GenerateJob> = {}): ExplainJob {
  return { kind: 'explain', jobId: newJobId(), job: generateJob(fields) };
}

/** A chat model in a small window; as many cells as would fill every window, unless told otherwise. */
export function loadSpec(fields: Partial<LoadSpec> = {}): LoadSpec {
  return {
    modelId: 'test',
    path: '/nowhere/test.gguf',
    digest: null,
    kind: 'chat',
    numCtx: 512,
    cells: (fields.numCtx ?? 512) * (fields.parallel ?? 4),
    parallel: 4,
    threads: 1,
    tunedThreads: null,
    draftTokens: 15,
    settings: {},
    experts: null,
    adapters: [],
    draft: null,
    ...fields,
  };
}
