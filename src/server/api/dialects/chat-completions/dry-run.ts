/** `?svc_dry_run=1`: generates nothing, and never evicts a model to find out. */
import type { GenerateJob } from '../../../../contract/job.ts';
import { totalBytes } from '../../../engine/device-memory.ts';
import type { Engine } from '../../../engine/ports.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import type { DryRun } from '../../../../wire/inference/dry-run.ts';
import type { RequestPlan } from '../../chat/accepted-request.ts';
import { explain } from '../../chat/chat.ts';
import { rewritingNames, withFolds } from '../../chat/request-notes.ts';

export async function dryRun(engine: Pick<Engine, 'plan' | 'submit'>, chat: RequestPlan): Promise<DryRun> {
  const { model, submission, jobs } = chat.choices;
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
  const explained = plan.evicts.length > 0 ? null : await explain(engine, chat);
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
    rewritten: rewritingNames(withFolds(chat.understood, explained?.folds).rewritten),
    difference: explained?.earlier?.difference ?? null,
    ignored_parameters: [...chat.understood.ignored],
    would_load: !plan.loaded,
    would_evict: [...plan.evicts],
    planned_bytes: totalBytes(plan.planned),
  };
}

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
