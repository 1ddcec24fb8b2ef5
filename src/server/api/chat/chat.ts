/**
 * server/api/chat owns the one use case that all chat dialects share: refusals before anything runs, the stage that checks
 * answers, and the accepted request that runs. It knows no dialect: no wire shape of a conversation, no chunk, and
 * only the true finish reasons. The folders of server/api/dialects translate to and from it.
 */
import type { ExplainedEvent } from '../../../contract/job-event.ts';
import { collectEvents, requireEvent } from '../../engine/collect.ts';
import type { ContextEdit, Engine } from '../../engine/ports.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import type { VolatileTreatment } from '../../../lib/prompt-cache/volatile-lines.ts';
import { type Caller, newJobId } from '../caller.ts';
import type { HeadPorts } from '../generation/usage.ts';
import { checkSlots, type JobContent, planChoices } from '../generation/choices.ts';
import { idleOptions } from '../generation/idle-options.ts';
import { checkIgnored, type GenerationFields } from '../generation/parameters.ts';
import type { Models, ServedModel } from '../models/served-model.ts';
import type { CacheLog } from '../cache-log.ts';
import type { RequestPlan } from './accepted-request.ts';
import { idleGuard } from './call-guard.ts';
import { compact, type Compacted } from './compaction/compact.ts';
import { modelEdits } from './compaction/context-edits.ts';
import type { SummaryBook } from './compaction/summary.ts';
import { type FetchImage, withImages } from './fetched-images.ts';
import { findRelaxations } from './relaxations.ts';
import { withSystem, withoutVolatile } from './volatile-lines.ts';

export interface ChatPorts extends HeadPorts {
  readonly models: Pick<Models, 'resolve'>;
  readonly engine: Pick<Engine, 'submit' | 'plan'>;
  readonly strictParams: boolean;
  /** The default model answers for a model that is not installed. */
  readonly unknownModelIsDefault: boolean;
  readonly volatileLines: VolatileTreatment;
  readonly cacheLog: CacheLog;
  readonly images: FetchImage | null;
  readonly summaries: SummaryBook;
}

export interface ChatAsk {
  readonly model: string;
  readonly content: (model: ServedModel, fetchesImages: boolean) => JobContent;
  readonly options: GenerationFields;
  readonly idle: (model: ServedModel) => readonly string[];
  readonly edits?: readonly ContextEdit[] | undefined;
  /** True: the prompt is used exactly as sent, volatile lines included. */
  readonly verbatim?: boolean;
}

/** Throws every refusal that does not need the engine. */
export async function planChat(ports: ChatPorts, ask: ChatAsk, caller: Caller): Promise<RequestPlan> {
  const { options } = ask;
  const { model, substituted } = await resolveModel(ports, ask.model);
  const asked = await withImages(ask.content(model, ports.images !== null), ports.images);
  const treatment = ask.verbatim === true ? 'keep' : ports.volatileLines;
  const trimmed = withoutVolatile(asked.prompt, treatment);
  const { prompt, rewritten } = ask.verbatim === true ? trimmed : withSystem(trimmed, model.defaults.system);
  const content = { ...asked, prompt };
  const relaxed = await findRelaxations(content, ports.strictParams);
  const planned = planChoices(options, content, { model, caller });
  // Verbatim prompts reuse no cache, so the cache log has nothing to report.
  const choices =
    ask.verbatim === true
      ? planned
      : {
          ...planned,
          account: ports.cacheLog.watch(caller, model.id),
          edits: ask.edits ?? modelEdits(model.defaults.compact),
        };
  const idle = idleOptions(options, content, choices.submission.target);
  const unguarded = idleGuard(options, ask.verbatim === true);
  const ignored = [...new Set([...idle, ...ask.idle(model), ...unguarded])];
  checkIgnored(ports.strictParams, ignored);
  checkSlots(ports.engine, choices);
  const hasStandIn = !model.hasChatTemplate;
  return { choices, caller, understood: { ignored, relaxed, substituted, hasStandIn, rewritten } };
}

interface Resolved {
  readonly model: ServedModel;
  readonly substituted: string | null;
}

async function resolveModel({ models, unknownModelIsDefault }: ChatPorts, name: string): Promise<Resolved> {
  try {
    return { model: await models.resolve(name, 'chat'), substituted: null };
  } catch (error) {
    if (!unknownModelIsDefault || !isFailure(error, 'model_not_found')) throw error;
    const model = await models.resolve('default', 'chat');
    return { model, substituted: model.id };
  }
}

export async function compactedChat(
  { engine, summaries: book }: Pick<ChatPorts, 'engine' | 'summaries'>,
  { choices: { submission, jobs, edits: own = [] }, caller: { signal } }: RequestPlan,
  { mayGenerate, edits = own }: { readonly mayGenerate: boolean; readonly edits?: readonly ContextEdit[] },
): Promise<Compacted> {
  const [job] = jobs;
  if (job?.prompt.kind !== 'chat') throw new Error('a chat request became no conversation');
  const submit: Engine['submit'] = (each, until, listener) => engine.submit(each, until, listener);
  const work = { submit, submission, signal, book, mayGenerate, onWait: () => {} };
  return compact({ ...job, prompt: job.prompt }, edits, work);
}

/** Renders and counts the prompt of the first job. It may load the model and generates nothing. */
export async function explain(
  engine: Pick<Engine, 'submit'>,
  { choices: { submission, jobs }, caller }: RequestPlan,
): Promise<ExplainedEvent> {
  const [job] = jobs;
  if (job === undefined) throw new Error('a chat request became no job');
  const explainJob = { kind: 'explain' as const, jobId: newJobId(caller), job };
  const events = await collectEvents((listener) =>
    engine.submit({ ...submission, job: explainJob }, caller.signal, listener),
  );
  return requireEvent(events, 'explained');
}
