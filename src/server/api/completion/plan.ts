import type { Engine } from '../../engine/ports.ts';
import type { Prompt, ScoredPrompt } from '../../../contract/job.ts';
import type { Caller } from '../caller.ts';
import { findRelaxations } from '../chat/relaxations.ts';
import type { RequestPlan } from '../chat/accepted-request.ts';
import type { HeadPorts } from '../generation/usage.ts';
import { checkSlots, type JobContent, planChoices } from '../generation/choices.ts';
import { idleOptions } from '../generation/idle-options.ts';
import { checkIgnored, type GenerationFields } from '../generation/parameters.ts';
import { type FormatFields, readAnswerFormat } from '../intake/answer-format.ts';
import type { Models } from '../models/served-model.ts';
import type { CacheLog } from '../cache-log.ts';

export interface CompletionPorts extends HeadPorts {
  readonly models: Pick<Models, 'resolve'>;
  readonly engine: Pick<Engine, 'submit' | 'plan'>;
  readonly strictParams: boolean;
  readonly cacheLog: CacheLog;
}

export interface CompletionAsk {
  readonly model: string;
  readonly prompts: readonly Prompt[];
  readonly options: GenerationFields & FormatFields;
  readonly topLogprobs: number | null;
  readonly scoredPrompt?: ScoredPrompt | undefined;
  readonly unknown: readonly string[];
}

export interface CompletionPlan extends RequestPlan {
  readonly perPrompt: number;
}

export const NO_CHAT = {
  tools: [],
  toolChoice: { mode: 'none' },
  reasoning: {},
} as const satisfies Partial<JobContent>;

/** Throws every refusal that does not need the engine. */
export async function planCompletion(
  ports: CompletionPorts,
  { model: name, prompts, options, topLogprobs, scoredPrompt, unknown }: CompletionAsk,
  caller: Caller,
): Promise<CompletionPlan> {
  const format = readAnswerFormat(options);
  const model = await ports.models.resolve(name, 'chat');
  const shared = { ...NO_CHAT, format, topLogprobs, ...(scoredPrompt === undefined ? {} : { scoredPrompt }) };
  const plans = prompts.map((prompt) => planChoices(options, { ...shared, prompt }, { model, caller }));
  const [plan] = plans;
  if (plan === undefined) throw new Error('a text completion came without a prompt');
  const relaxed = await findRelaxations(shared, ports.strictParams);
  const ignored = [...idleOptions(options, shared, plan.submission.target), ...unknown];
  checkIgnored(ports.strictParams, ignored);
  checkSlots(ports.engine, plan);
  return {
    choices: {
      ...plan,
      account: ports.cacheLog.watch(caller, model.id),
      jobs: plans.flatMap(({ jobs }) => jobs),
    },
    caller,
    perPrompt: plan.jobs.length,
    understood: { ignored, relaxed },
  };
}
