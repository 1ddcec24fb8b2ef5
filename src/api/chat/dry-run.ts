/** `?svc_dry_run=1`: what a chat request would do. Generates nothing, and never evicts a model to find out. */
import type { GenerateJob } from '../../contract/job.ts';
import type { ExplainedEvent } from '../../contract/job-event.ts';
import { collectEvents } from '../../engine/collect.ts';
import { totalBytes } from '../../engine/device-memory.ts';
import type { Engine } from '../../engine/ports.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { DryRun } from '../../wire/inference/dry-run.ts';
import type { Caller } from '../caller.ts';
import type { Choices } from '../generation/choices.ts';
import { newJobId } from '../generation/job-id.ts';

export async function dryRun(
  engine: Pick<Engine, 'submit' | 'plan'>,
  choices: Choices,
  { ignored, caller }: { readonly ignored: readonly string[]; readonly caller: Caller },
): Promise<DryRun> {
  const { model, submission, jobs } = choices;
  const [job] = jobs;
  if (job === undefined) throw new Error('a chat request became no job');
  if (!submission.target.capabilities.canExplain) {
    throw fail('capability_missing', {
      model: model.id,
      ability: 'explain a request without running it',
      remedy: 'leave svc_dry_run out',
      param: 'svc_dry_run',
    });
  }
  const plan = engine.plan(submission.target, submission.numCtx);
  const explained = plan.evicts.length > 0 ? null : await explain(engine, { choices, job, caller });
  return {
    object: 'svc.dry_run',
    model: model.id,
    rendered_prompt: explained?.renderedPrompt ?? null,
    prompt_tokens: explained?.promptTokens ?? null,
    cached_tokens: explained?.cachedTokens ?? null,
    slot: explained?.sequence ?? null,
    num_ctx: explained?.numCtx ?? null,
    fits: explained === null ? null : explained.promptTokens < explained.numCtx,
    tool_format: explained?.toolFormat ?? null,
    parameters: effective(job, jobs.length),
    ignored_parameters: [...ignored],
    would_load: !plan.loaded,
    would_evict: [...plan.evicts],
    planned_bytes: totalBytes(plan.planned),
  };
}

async function explain(
  engine: Pick<Engine, 'submit'>,
  { choices, job, caller }: { readonly choices: Choices; readonly job: GenerateJob; readonly caller: Caller },
): Promise<ExplainedEvent> {
  const explainJob = { kind: 'explain' as const, jobId: newJobId(caller), job };
  const submission = { ...choices.submission, job: explainJob };
  const events = await collectEvents((listener) => engine.submit(submission, caller.signal, listener));
  const explained = events.find((event) => event.type === 'explained');
  if (explained === undefined) throw new Error('a dry run ended without an explanation');
  return explained;
}

/** The job without its conversation: every option as the engine would take it. */
function effective(job: GenerateJob, n: number): Record<string, unknown> {
  const { sampling, adapters, maxTokens, numCtx, stop, toolChoice, tools, format, reasoning, topLogprobs } =
    job;
  return {
    ...sampling,
    lora: adapters,
    n,
    maxTokens,
    numCtx,
    stop,
    toolChoice,
    tools: tools.map(({ name }) => name),
    format: format.kind,
    reasoning,
    topLogprobs,
  };
}
